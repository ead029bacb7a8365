import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { momentOf } from '../texts/time.ts'
import type { NewLine } from './new-line.ts'

interface PillsProps {
  /** The line of what is new, if a button leads to it. */
  line: NewLine | undefined
  onLine: () => void
  /** Whether the end is not in view. */
  isAway: boolean
  /** How many messages have arrived there since. */
  arrived: number
  onEnd: () => void
}

/** The buttons above a stream that lead to where the new messages begin, and to its end. */
export function StreamPills({ line, onLine, isAway, arrived, onEnd }: PillsProps) {
  const { stream } = texts.value
  return (
    <>
      {line && (
        <button type="button" class="pill" data-to="line" onClick={onLine}>
          {line.at ? stream.since(line.count, momentOf(line.at)) : stream.arrived(line.count)}
          <Icon name="jump" />
        </button>
      )}
      {isAway && (
        <button type="button" class="pill" data-to="end" onClick={onEnd}>
          {arrived > 0 ? stream.arrived(arrived) : stream.to_end}
          <Icon name="jump" />
        </button>
      )}
    </>
  )
}

/** A conversation without a message. */
export function StreamEmpty() {
  const { empty, empty_text } = texts.value.stream
  return (
    <div class="empty">
      <Icon name="chat" />
      <h3>{empty}</h3>
      <p>{empty_text}</p>
    </div>
  )
}
