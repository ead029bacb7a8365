import type { Tx } from '../../live/transaction.ts'
import type { FailureCode } from './schema.ts'
import { type AnswerEnd, deleteUnderWay, finishAnswer } from './store.ts'

/** Stopped by somebody who may. */
export const CANCELLED: AnswerEnd = { status: 'cancelled', finish_reason: 'cancelled' }

/** Its process died, or stopped. */
export const INTERRUPTED: AnswerEnd = { status: 'interrupted', finish_reason: 'interrupted' }

/**
 * Ends an answer that is under way and tells the conversation, in which the transaction is alone; what was produced
 * stays.
 *
 * @param options.failure says why it failed, for an end as `failed`
 * @param options.only ends it only if it is that writer's, or if its lease has lapsed
 * @returns whether it was under way
 */
export async function endAnswer(
  tx: Tx,
  answer: { message_id: string; conversation_id: string },
  end: AnswerEnd,
  options: { failure?: FailureCode | undefined; only?: { writer?: string; lapsed?: true } } = {},
): Promise<boolean> {
  const { message_id, conversation_id } = answer
  if (!(await deleteUnderWay(tx, message_id, options.only))) return false
  await finishAnswer(tx, message_id, end)
  if (options.failure)
    tx.emit(conversation_id, { type: 'message.failed', message_id, detail: { code: options.failure } })
  tx.emit(conversation_id, { type: 'message.done', message_id })
  return true
}
