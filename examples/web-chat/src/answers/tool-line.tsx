import type { Message } from 'chat-server/client'
import { useId, useState } from 'preact/hooks'
import { Icon, type IconName } from '../parts/icon.tsx'
import { answersTexts } from '../texts/answers.ts'
import { ApprovalCard } from './approval-card.tsx'
import { ToolDetails } from './tool-details.tsx'
import { WholePart } from './whole-part.tsx'

export type ToolPart = Extract<NonNullable<Message['parts']>[number], { type: 'tool' }>

/** The states that have an icon of their own. */
const ICONS: Partial<Record<ToolPart['state'], IconName>> = { done: 'check', failed: 'close', denied: 'close' }

/** A call of a tool: its name and its state in a line, what it got and returned on demand. */
export function ToolLine({ message_id, part }: { message_id: string; part: ToolPart }) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const { name, title, state, input, output, error, cut } = part
  const hasDetails = [input, output, error, cut].some((value) => value !== undefined)
  const line = (
    <>
      <Icon name={ICONS[state] ?? 'settings'} />
      <bdi class="tool-name">{title ?? name}</bdi>{' '}
      <span class="tool-state">{answersTexts.value.tool_states[state]}</span>
    </>
  )
  return (
    <div class="tool" data-state={state} tabIndex={-1}>
      {hasDetails ? (
        <button
          type="button"
          class="answer-line"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          {line}
          <Icon name="down" />
        </button>
      ) : (
        <p class="answer-line">{line}</p>
      )}
      <div id={id} class="tool-details" hidden={!isOpen}>
        {isOpen && (
          <WholePart message_id={message_id} part={part}>
            {(whole) => <ToolDetails part={whole} />}
          </WholePart>
        )}
      </div>
      {state === 'waiting' && <ApprovalCard call_id={part.call_id} />}
    </div>
  )
}
