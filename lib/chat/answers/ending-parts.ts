import { partsOfRows, toStoredParts } from '../../core/stored-parts.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { listRows } from '../../storage/answer-parts.ts'
import type { Micros } from '../../storage/sql.ts'
import { type AnswerPlace, appendParts, type CallMove, moveCalls } from './calls.ts'
import { endsOfOpenCalls } from './rules-parts.ts'
import type { Part } from './schema-parts.ts'
import { listStates, listWaiting } from './store-calls.ts'
import { setParts } from './store-parts.ts'

/** The parts of an answer that has ended. */
export interface EndedParts {
  /** The last step that has a row. */
  step: number
  /** Whether the service has run calls of tools for it. */
  hasCalls: boolean
}

/** Stores the parts of an answer that ends, after the ends of calls that are open. */
export async function endParts(tx: Tx, answer: AnswerPlace): Promise<EndedParts> {
  const rows = await listRows(tx, answer.message_id)
  const parts = partsOfRows(rows)
  const at = rows.at(-1)!.created_at
  const hasCalls = parts.some((part) => part.type === 'tool' && !part.by_provider)
  const stopped = hasCalls ? await stopCalls(tx, answer, parts, at) : 0
  const open = endsOfOpenCalls(parts)
  await appendParts(tx, answer, open, at)
  const isChanged = stopped + open.length > 0
  const ended = isChanged ? partsOfRows(await listRows(tx, answer.message_id)) : parts
  await setParts(tx, answer.message_id, toStoredParts(ended))
  const steps = ended.map((part) => (part.type === 'step' ? part.step : 1))
  return { step: Math.max(1, ...steps), hasCalls }
}

/** Ends the calls that the service runs: the results of those that have started are unknown, and the others never start. */
async function stopCalls(tx: Tx, answer: AnswerPlace, parts: readonly Part[], at: Micros): Promise<number> {
  const states = (await listStates(tx, answer.message_id))!
  const waiting = new Map((await listWaiting(tx, answer.message_id)).map(({ id, approval }) => [id, approval]))
  const moves = parts.flatMap((part): CallMove[] => {
    if (part.type !== 'tool' || part.by_provider) return []
    const call = { id: part.call_id, part_id: part.id }
    // In a copy of a database it can no longer be decided.
    if (waiting.get(call.id) === 'expired') return [{ call, act: 'expire' }]
    const outcome = waiting.has(call.id) && { change: { approval: 'cancelled' as const, decided_at: at } }
    return [{ call, act: 'stop', ...outcome }]
  })
  const stopped = await moveCalls(tx, answer, states, moves, at)
  for (const call_id of waiting.keys()) {
    const { message_id, conversation_id } = answer
    tx.emit(conversation_id, { type: 'approval.changed', message_id, detail: { call_id } })
  }
  return stopped.length
}
