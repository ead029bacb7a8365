import type { Tx } from '../../live/transaction/transaction.ts'
import type { Spent } from '../metering/rules-spent.ts'
import { usedBy } from '../metering/using.ts'
import { endParts } from './ending-parts.ts'
import { askLater } from './reviews.ts'
import { type AnswerEnd, deleteUnderWay, finishAnswer, isWaiting } from './store.ts'
import { setMetadata, takeRun } from './store-runs.ts'

/** Cancelled by a user with the right to do so. */
export const CANCELLED: AnswerEnd = { status: 'cancelled', finish_reason: 'cancelled' }

/** Its process died or stopped. */
export const INTERRUPTED: AnswerEnd = { status: 'interrupted', finish_reason: 'interrupted' }

/** Why a message has ended that the host refuses with all of its text, and how an answer fails that it withdraws. */
export const REFUSED = 'refused'

interface EndOptions {
  only?: { writer?: string; lapsed?: true }
  isReviewed?: boolean
  withheld_bytes?: number | undefined
}

/**
 * Ends an answer under way and publishes that to the conversation, which the transaction has locked; the text so far
 * is kept.
 *
 * @param options.only ends it only if this writer holds it, or if its lease has expired
 * @param options.isReviewed the host was asked about all of the text of a program; otherwise a task asks
 * @param options.withheld_bytes of the text of its last step that is not stored: it was written all the same
 * @returns whether it was under way
 */
export async function endAnswer(
  tx: Tx,
  answer: { message_id: string; conversation_id: string },
  end: AnswerEnd,
  { only, isReviewed, withheld_bytes = 0 }: EndOptions = {},
): Promise<boolean> {
  const { message_id, conversation_id } = answer
  const isHeld = await deleteUnderWay(tx, message_id, only)
  // No process holds an answer that waits for participants.
  if (!isHeld && (only || !(await isWaiting(tx, message_id)))) return false
  const ended = await finishAnswer(tx, message_id, end)
  if (ended && ended.role !== 'assistant' && ended.bytes > 0 && !isReviewed)
    await askLater(tx, message_id, ended.posted_by)
  const parts = ended && ended.part_count > 0 ? await endParts(tx, { ...answer, root_id: ended.root_id }) : undefined
  const before = parts?.hasCalls ? await takeRun(tx, message_id) : undefined
  if (before?.metadata) await setMetadata(tx, message_id, before.metadata)
  const used =
    ended?.role === 'assistant'
      ? await usedBy(tx, answer, {
          ...{ ...ended, bytes: ended.bytes + withheld_bytes, usage: end.usage },
          ...(before && stepsBefore(before, withheld_bytes > 0 ? Number.POSITIVE_INFINITY : parts!.step)),
        })
      : undefined
  const { failure: code, retry_after_seconds } = end
  const detail = code && { code, ...(retry_after_seconds !== undefined && { retry_after_seconds }) }
  if (detail) tx.emit(conversation_id, { type: 'message.failed', message_id, detail })
  tx.emit(conversation_id, { type: 'message.done', message_id, ...(used && { used }) })
  return true
}

/** What the steps before have used, and whether another one has begun. */
function stepsBefore({ spent }: { spent: string }, step: number): { before: Spent; hasBegun: boolean } {
  const before = JSON.parse(spent) as Spent
  return { before, hasBegun: step > before.steps }
}
