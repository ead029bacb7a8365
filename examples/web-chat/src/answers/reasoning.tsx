import type { Message } from 'chat-server/client'
import { useId, useRef, useState } from 'preact/hooks'
import { Markdown } from '../markdown/lazy.tsx'
import { Icon } from '../parts/icon.tsx'
import { answersTexts } from '../texts/answers.ts'
import { useIsNear } from '../threads/near.ts'
import { durationText } from './duration-text.ts'
import { useThoughtTime } from './thought-time.ts'
import { WholePart } from './whole-part.tsx'

type ReasoningPart = Extract<NonNullable<Message['parts']>[number], { type: 'reasoning' }>

interface ReasoningProps {
  message_id: string
  part: ReasoningPart
  /** The number of the chunk after it. */
  end: number | undefined
  /** Whether the assistant is thinking. */
  isLive: boolean
}

/** What the assistant wrote before it answered, folded: how long that took, and its text on demand. */
export function Reasoning({ message_id, part, end, isLive }: ReasoningProps) {
  const place = useRef<HTMLDivElement>(null)
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const isNear = useIsNear(place)
  const seconds = useThoughtTime(message_id, { start: part.id, end }, isNear && !isLive)
  const { thinking, thought, thought_for } = answersTexts.value
  const label = isLive ? thinking : seconds === undefined ? thought : thought_for(durationText(seconds))
  return (
    <div ref={place} class="reasoning">
      <button
        type="button"
        class="answer-line"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="next" />
        {label}
      </button>
      <div id={id} class="reasoning-text" hidden={!isOpen}>
        {isOpen && (
          <WholePart message_id={message_id} part={part}>
            {({ text = '' }) => <Markdown text={text} isGrowing={isLive} />}
          </WholePart>
        )}
      </div>
    </div>
  )
}
