import type { AuditActor } from '../../accounts/audit/store.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { inBatches, rowsAtOnce } from '../../tasks/batches.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import { CANCELLED, endAnswer } from '../answers/ending.ts'
import { listAnswersIn } from '../answers/store-streaming.ts'
import { listUnreadIn } from '../memberships/store.ts'
import { findConversation, hideConversation } from '../memberships/store-conversations.ts'
import { forgetSums } from '../usage/store.ts'
import { deleteUnderWayIn } from './store.ts'
import {
  deleteHidden,
  deleteMessages,
  deletePieces,
  deleteRest,
  deleteThreads,
  listSizes,
  listThreadIds,
} from './store-removal.ts'

/** The maximum size of the text that one batch removes: SQLite overwrites all of it. */
const BATCH_BYTES = 1024 * 1024

/**
 * Deletes a conversation: it is hidden with the commit, also its notifications, and a task removes its content. The audit
 * log keeps its title. The caller must call `tx.recheckStreams`.
 *
 * @param change.by the actor that deletes it, as in an audit entry
 */
export async function hide(
  tx: Tx,
  conversationId: string,
  { at, by, reason }: { at: Micros; by: AuditActor; reason?: 'erasure' },
): Promise<void> {
  const { title } = (await findConversation(tx, conversationId))!
  tx.audit({
    act: 'conversation.deleted',
    ...by,
    subject_id: conversationId,
    conversation_id: conversationId,
    ...(reason && { detail: { reason } }),
    ...(title && { names: { title } }),
  })
  await hideConversation(tx, conversationId, at)
  tx.publishCounts(await listUnreadIn(tx, conversationId))
  // The processes that write the answers stop when their rows are deleted. What these have used counts all the same.
  for (const message_id of await listAnswersIn(tx, conversationId))
    await endAnswer(tx, { message_id, conversation_id: conversationId }, CANCELLED)
  await deleteUnderWayIn(tx, conversationId)
  tx.enqueue({ kind: 'conversation.remove', key: conversationId })
}

/** Removes the content of a hidden conversation, then the conversation. */
export async function removeConversation(ctx: Context, { key, detail, isOver }: TaskRun): Promise<TaskOutcome> {
  let removed = Number(detail.removed ?? 0)
  const isDone = await inBatches(isOver, async (usual) => {
    const size = rowsAtOnce(ctx.db, usual)
    const batch = await ctx.write(async (tx) => {
      const began = performance.now()
      const messages = await removeMessages(ctx, tx, key, size)
      const isLast = messages === undefined && (await deleteRest(tx, key, size)) === undefined
      if (isLast) {
        await deleteHidden(tx, key)
        await forgetSums(tx, 'conversation', key)
        tx.enqueue({ kind: 'storage.purge', key: '' })
        if (ctx.config.attachments.enabled) tx.enqueue({ kind: 'files.collect', key: '' })
      }
      return { messages, isLast, ms: performance.now() - began }
    })
    removed += batch.messages ?? 0
    return batch.isLast ? undefined : batch.ms
  })
  return isDone ? { done: true } : { done: false, detail: { removed } }
}

/** Removes up to `size` messages, and threads without messages. @returns the number; `undefined` without threads */
async function removeMessages(
  { db, search }: Context,
  tx: Queries,
  conversationId: string,
  size: number,
): Promise<number | undefined> {
  const threads = await listThreadIds(tx, conversationId, size)
  if (threads.length === 0) return undefined
  const messages = await listSizes(tx, threads, size)
  const most = rowsAtOnce(db, BATCH_BYTES)
  const ids = fitting(messages, most)
  const isLarge = ids.length === 1 && messages[0]!.bytes > most
  if (isLarge && (await deletePieces(tx, ids[0]!, (rows) => rowsAtOnce(db, rows)))) return 0
  await search.remove(tx, ids)
  await deleteMessages(tx, ids)
  if (ids.length < size && ids.length === messages.length) await deleteThreads(tx, threads, 2 * size)
  return ids.length
}

/** The first of these messages, and the following ones that fit into the batch. */
function fitting(messages: { id: string; bytes: number }[], most: number): string[] {
  let bytes = 0
  const end = messages.findIndex((message) => {
    bytes += Number(message.bytes)
    return bytes > most
  })
  return messages.slice(0, end < 0 ? messages.length : Math.max(1, end)).map(({ id }) => id)
}
