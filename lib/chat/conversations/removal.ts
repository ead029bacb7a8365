import type { AuditEntry } from '../../accounts/audit/store.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import { among, literal, type Micros, name, sql } from '../../storage/sql.ts'
import { inBatches, rowsAtOnce } from '../../tasks/batches.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import { listUnreadIn } from '../memberships/store.ts'
import { findConversation, hideConversation } from '../memberships/store-conversations.ts'
import { forgetSums } from '../usage/store.ts'
import { deleteUnderWayIn } from './store.ts'

/** The maximum size of the text that one batch removes: SQLite overwrites all of it. */
const BATCH_BYTES = 1024 * 1024

/** About the size of a reaction, or of a notification, with its index entries. */
const ROW_BYTES = 300

/** The tables with pieces of a message, their keys, and the number that one batch removes of a message larger than a batch. */
const PIECES = {
  message_revisions: { of: sql`message_id`, key: sql`replaced_at`, most: 16 },
  message_chunks: { of: sql`message_id`, key: sql`idx`, most: 256 },
  reactions: { of: sql`message_id`, key: sql`at`, most: 1_024 },
  notifications: { of: sql`id`, key: sql`user_id`, most: 1_024 },
}

/**
 * Deletes a conversation: it is hidden with the commit, also its notifications, and a task removes its content. The audit
 * log keeps its title. The caller must call `tx.recheckStreams`.
 *
 * @param change.by the actor that deletes it, as in an audit entry
 */
export async function hide(
  tx: Tx,
  conversationId: string,
  { at, by, reason }: { at: Micros; by: Pick<AuditEntry, 'actor_id' | 'ip'>; reason?: 'erasure' },
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
  // The processes that write the answers stop when their rows are deleted.
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
      const isLast = messages === undefined && (await removeRest(tx, key, size)) === undefined
      if (isLast) {
        await tx.run(sql`DELETE FROM conversations WHERE id = ${key} AND deleted_at IS NOT NULL`)
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
  const threads = await tx.all<{ root_id: string }>(
    sql`SELECT root_id FROM threads WHERE conversation_id = ${conversationId} ORDER BY last_activity_at LIMIT ${size}`,
  )
  if (threads.length === 0) return undefined
  const ofThreads = among(
    tx,
    threads.map((thread) => thread.root_id),
  )
  const messages = await tx.all<{ id: string; bytes: number }>(
    sql`SELECT id, octet_length(content) + coalesce(octet_length(prompt), 0) +
            (SELECT coalesce(sum(octet_length(r.content)), 0) FROM message_revisions r
                WHERE r.message_id = messages.id) +
            (SELECT coalesce(sum(octet_length(c.content)), 0) FROM message_chunks c WHERE c.message_id = messages.id) +
            (SELECT count(*) * ${literal(ROW_BYTES)} FROM reactions r WHERE r.message_id = messages.id) +
            (SELECT count(*) * ${literal(ROW_BYTES)} FROM notifications n WHERE n.id = messages.id) AS bytes
       FROM messages WHERE root_id ${ofThreads} LIMIT ${size}`,
  )
  const most = rowsAtOnce(db, BATCH_BYTES)
  const ids = fitting(messages, most)
  const isLarge = ids.length === 1 && messages[0]!.bytes > most
  if (isLarge && (await removePieces(tx, ids[0]!, (rows) => rowsAtOnce(db, rows)))) return 0
  await tx.run(sql`DELETE FROM notifications WHERE id ${among(tx, ids)}`)
  await search.remove(tx, ids)
  await tx.run(sql`DELETE FROM messages WHERE id ${among(tx, ids)}`)
  if (ids.length === size || ids.length < messages.length) return ids.length
  const members = await tx.run(
    sql`DELETE FROM thread_members WHERE (root_id, user_id) IN (
       SELECT root_id, user_id FROM thread_members WHERE root_id ${ofThreads}
       LIMIT ${2 * size})`,
  )
  if (members === 2 * size) return ids.length
  await tx.run(sql`DELETE FROM notifications WHERE kind = 'direct'
         AND root_id ${ofThreads}`)
  await tx.run(sql`DELETE FROM threads WHERE root_id ${ofThreads}`)
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

/** Removes some pieces of one large message. @returns false if it had none */
async function removePieces(tx: Queries, messageId: string, atOnce: (rows: number) => number): Promise<boolean> {
  let removed = 0
  for (const [table, { of, key, most }] of Object.entries(PIECES))
    removed += await tx.run(
      sql`DELETE FROM ${name(table)} WHERE ${of} = ${messageId} AND ${key} IN (
         SELECT ${key} FROM ${name(table)} WHERE ${of} = ${messageId} ORDER BY ${key} LIMIT ${atOnce(most)})`,
    )
  return removed > 0
}

/** The other tables with rows of a conversation, and their keys; with notifications that are about no message. */
const REST = {
  notifications: sql`id, user_id`,
  events: sql`id`,
  invites: sql`id`,
  participants: sql`conversation_id, user_id`,
}

/** Removes up to `size` rows of one other table. @returns the number; `undefined` if no rows are left */
async function removeRest(tx: Queries, conversationId: string, size: number): Promise<number | undefined> {
  for (const [table, key] of Object.entries(REST)) {
    const removed = await tx.run(
      sql`DELETE FROM ${name(table)} WHERE (${key}) IN (SELECT ${key} FROM ${name(table)}
            WHERE conversation_id = ${conversationId}
        ${table === 'notifications' ? sql`AND kind = 'added'` : sql``} LIMIT ${size})`,
    )
    if (removed > 0) return removed
  }
  return undefined
}
