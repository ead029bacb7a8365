import type { ToolState } from '../../chat/answers/schema-parts.ts'
import type { SoFar } from '../so-far.ts'

/** How many rows a call adds until it has ended: that it waits, what was decided, that it starts, and its end. */
const ROWS_LEFT: Partial<Record<ToolState, number>> = { requested: 4, waiting: 3, approved: 2, running: 1 }

/** About the size of such a row, without an output. */
const ROW_BYTES = 200

/**
 * What an answer has once its calls have ended and the next step has begun, whose row is a part: else it would fail after
 * its tools have run. What the calls return is not known before.
 *
 * @param states those of its calls
 */
export function withOpenCalls({ parts, rows, bytes }: SoFar['used'], states: Iterable<ToolState>): SoFar['used'] {
  const left = [...states].reduce((sum, state) => sum + (ROWS_LEFT[state] ?? 0), 1)
  return { parts: parts + 1, rows: rows + left, bytes: bytes + left * ROW_BYTES }
}
