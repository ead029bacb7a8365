import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { readDeciders } from '../notifications/deciders.ts'
import { CALL_FAILURES, CALL_STATES, type CallAct, type CallFailureCode, hasEnded } from './rules-calls.ts'
import { type PartPlace, toPartEvent } from './rules-parts.ts'
import type { PartChange, ToolError, ToolState } from './schema-parts.ts'
import { type CallChange, type CallRow, setCall, takeNumbers } from './store-calls.ts'
import { insertPart } from './store-parts.ts'

/** Where an answer is. */
export type AnswerPlace = Omit<PartPlace, 'idx'>

/** What happens to a call. */
export interface CallMove {
  call: Pick<CallRow, 'id' | 'part_id'>
  act: CallAct
  /** What is stored of the call. */
  change?: CallChange
  /** What readers get of that beside the state. */
  shown?: Pick<PartChange, 'output' | 'error' | 'approval'>
  /** Parts of its result, which get their own ids. */
  parts?: readonly NewPart[]
}

/** A change of a part, with what the provider keeps with it, as JSON; without an id a new part. */
export type NewPart = Omit<PartChange, 'id'> & {
  id?: number
  provider_data?: string | undefined
  /** The state in which a call has ended by it. */
  ended_call?: ToolState
}

/** Why a call has no result, as it is stored and as readers get it. */
export function failed(code: CallFailureCode, message?: string): Pick<CallMove, 'change' | 'shown'> {
  const error: ToolError = { code, message: message ?? CALL_FAILURES[code] }
  return { change: { error: JSON.stringify(error) }, shown: { error } }
}

/**
 * Moves calls to their next states, with a row each, in a transaction that has locked their conversation. What cannot happen
 * in the state of a call is left out: another process was first, or the transaction is repeated.
 *
 * @param states those of all calls of the answer; brought up to date
 * @returns what has happened
 */
export async function moveCalls(
  tx: Tx,
  answer: AnswerPlace,
  states: Map<string, ToolState>,
  moves: readonly CallMove[],
  at: Micros,
): Promise<CallMove[]> {
  const isWaiting = () => [...states.values()].includes('waiting')
  const hasWaited = isWaiting()
  const done: CallMove[] = []
  const rows: NewPart[] = []
  for (const move of moves) {
    const { call, act, change, shown, parts = [] } = move
    const from = states.get(call.id)
    const state = from && CALL_STATES[from][act]
    if (!state) continue
    tx.defer(setCall(tx, call.id, { ...change, state }))
    states.set(call.id, state)
    const ended = hasEnded(state) && { ended_call: state }
    rows.push({ id: call.part_id, type: 'tool', state, ...shown, ...ended }, ...parts)
    done.push(move)
  }
  await appendParts(tx, answer, rows, at)
  if (hasWaited && !isWaiting()) await readDeciders(tx, answer, at)
  return done
}

/** Appends rows to an answer under way, in a transaction that has locked its conversation. @returns the number of the first */
export async function appendParts(
  tx: Tx,
  answer: AnswerPlace,
  rows: readonly NewPart[],
  created_at: Micros,
): Promise<number> {
  const { message_id, conversation_id } = answer
  if (rows.length === 0) return -1
  const first = await takeNumbers(tx, message_id, rows.length)
  for (const [n, { provider_data = null, id, ended_call, ...row }] of rows.entries()) {
    const idx = first + n
    const part: PartChange = { id: id ?? idx, ...row }
    const stored = { message_id, idx, content: '', part: JSON.stringify(part), provider_data, created_at }
    tx.defer(insertPart(tx, stored))
    tx.emit(conversation_id, {
      type: 'message.part',
      message_id,
      detail: { idx },
      payload: toPartEvent({ ...answer, idx }, part),
      ...(ended_call && { ended_call }),
    })
  }
  return first
}
