import type { Tx } from '../../live/transaction/transaction.ts'
import { usedBy } from '../metering/using.ts'
import { endParts } from './ending-parts.ts'
import { type AnswerEnd, deleteUnderWay, finishAnswer } from './store.ts'

/** Cancelled by a user with the right to do so. */
export const CANCELLED: AnswerEnd = { status: 'cancelled', finish_reason: 'cancelled' }

/** Its process died or stopped. */
export const INTERRUPTED: AnswerEnd = { status: 'interrupted', finish_reason: 'interrupted' }

/** Why a message has ended that the host refuses with all of its text. */
export const REFUSED = 'refused'

/**
 * Ends an answer in progress and publishes that to the conversation, which the transaction has locked; the text so far
 * is kept.
 *
 * @param only ends it only if this writer holds it, or if its lease has expired
 * @returns whether it was in progress
 */
export async function endAnswer(
  tx: Tx,
  answer: { message_id: string; conversation_id: string },
  end: AnswerEnd,
  { only }: { only?: { writer?: string; lapsed?: true } } = {},
): Promise<boolean> {
  const { message_id, conversation_id } = answer
  if (!(await deleteUnderWay(tx, message_id, only))) return false
  const ended = await finishAnswer(tx, message_id, end)
  if (ended && ended.part_count > 0) await endParts(tx, answer)
  const used = ended?.role === 'assistant' ? await usedBy(tx, answer, { ...ended, usage: end.usage }) : undefined
  const { failure: code, retry_after_seconds } = end
  const detail = code && { code, ...(retry_after_seconds !== undefined && { retry_after_seconds }) }
  if (detail) tx.emit(conversation_id, { type: 'message.failed', message_id, detail })
  tx.emit(conversation_id, { type: 'message.done', message_id, ...(used && { used }) })
  return true
}
