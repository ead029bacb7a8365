import type { CallMove } from '../../chat/answers/calls.ts'
import { measureParts } from '../../chat/answers/store-calls.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { isBeyondLimits } from '../answer-parts.ts'

/**
 * Leaves out the parts of results beyond what an answer may have: several calls may end at once, each with many. The results
 * themselves stay.
 */
export async function withoutExcessParts(tx: Tx, messageId: string, moves: readonly CallMove[]): Promise<CallMove[]> {
  if (!moves.some(({ parts }) => parts?.length)) return [...moves]
  const used = await measureParts(tx, messageId)
  return moves.map(({ parts, ...move }) => {
    const kept = parts?.filter((part) => {
      used.parts++
      used.rows++
      used.bytes += Buffer.byteLength(JSON.stringify(part))
      return !isBeyondLimits(used)
    })
    return kept ? { ...move, parts: kept } : move
  })
}
