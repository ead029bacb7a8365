import type { CallMove, NewPart } from '../../chat/answers/calls.ts'
import { isBeyondLimits } from '../../chat/answers/rules-limits.ts'
import type { ToolState } from '../../chat/answers/schema-parts.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { readSoFar } from '../so-far.ts'
import { withOpenCalls } from './room.ts'

/**
 * Leaves out the parts of results beyond what an answer may have: several calls may end at once, each with many. The results
 * themselves stay.
 *
 * @param states those of all calls of the answer, before the moves
 */
export async function withoutExcessParts(
  tx: Tx,
  messageId: string,
  moves: readonly CallMove[],
  states: Iterable<ToolState>,
): Promise<CallMove[]> {
  if (!moves.some(({ parts }) => parts?.length)) return [...moves]
  // Before all: no row of a call is left out, nor the one with which the next step begins.
  const used = withOpenCalls((await readSoFar(tx, messageId)).used, states)
  for (const { shown = {} } of moves) used.bytes += Buffer.byteLength(JSON.stringify(shown))
  const fits = (row: NewPart) => {
    used.parts++
    used.rows++
    used.bytes += Buffer.byteLength(JSON.stringify(row))
    return !isBeyondLimits(used)
  }
  return moves.map(({ parts, ...move }) => {
    const kept = parts?.filter(fits)
    return kept ? { ...move, parts: kept } : move
  })
}
