import type { Queries } from '../../storage/database.ts'
import { among, literal, name, sql } from '../../storage/sql.ts'

/** About the size of a reaction, or of a notification, with its index entries. */
const ROW_BYTES = 300

/** The tables with pieces of a message, their keys, and the number that one batch removes of a message larger than a batch. */
const PIECES = {
  message_revisions: { of: sql`message_id`, key: sql`replaced_at`, most: 16 },
  message_chunks: { of: sql`message_id`, key: sql`idx`, most: 256 },
  tool_calls: { of: sql`message_id`, key: sql`id`, most: 64 },
  reactions: { of: sql`message_id`, key: sql`at`, most: 1_024 },
  answer_feedback: { of: sql`message_id`, key: sql`id`, most: 1_024 },
  notifications: { of: sql`id`, key: sql`user_id`, most: 1_024 },
}

/** Up to `limit` threads of a conversation. By (conversation_id, last_activity_at). */
export async function listThreadIds(tx: Queries, conversationId: string, limit: number): Promise<string[]> {
  const rows = await tx.all<{ root_id: string }>(
    sql`SELECT root_id FROM threads WHERE conversation_id = ${conversationId} ORDER BY last_activity_at LIMIT ${limit}`,
  )
  return rows.map(({ root_id }) => root_id)
}

/** Up to `limit` messages of threads, with the size of all that goes with each of them. By root_id. */
export function listSizes(tx: Queries, rootIds: string[], limit: number): Promise<{ id: string; bytes: number }[]> {
  return tx.all(
    sql`SELECT id, octet_length(content) + coalesce(octet_length(prompt), 0) + coalesce(octet_length(context), 0) +
            coalesce(octet_length(parts), 0) +
            (SELECT coalesce(sum(octet_length(r.content)), 0) FROM message_revisions r
                WHERE r.message_id = messages.id) +
            (SELECT coalesce(sum(octet_length(c.content) + coalesce(octet_length(c.part), 0) +
                coalesce(octet_length(c.provider_data), 0)), 0) FROM message_chunks c WHERE c.message_id = messages.id) +
            (SELECT coalesce(sum(coalesce(octet_length(t.input), 0) + coalesce(octet_length(t.output), 0)), 0)
                FROM tool_calls t WHERE t.message_id = messages.id) +
            (SELECT count(*) * ${literal(ROW_BYTES)} FROM reactions r WHERE r.message_id = messages.id) +
            (SELECT count(*) * ${literal(ROW_BYTES)} FROM notifications n WHERE n.id = messages.id) AS bytes
       FROM messages WHERE root_id ${among(tx, rootIds)} LIMIT ${limit}`,
  )
}

/** Deletes messages with their notifications. By primary key. */
export async function deleteMessages(tx: Queries, ids: string[]): Promise<void> {
  await tx.run(sql`DELETE FROM notifications WHERE id ${among(tx, ids)}`)
  await tx.run(sql`DELETE FROM notifications WHERE scope_id IS NOT NULL AND message_id ${among(tx, ids)}`)
  await tx.run(sql`DELETE FROM messages WHERE id ${among(tx, ids)}`)
}

/** Deletes threads without messages, unless they have `limit` members or more: then only that number of these. */
export async function deleteThreads(tx: Queries, rootIds: string[], limit: number): Promise<void> {
  const ofThreads = among(tx, rootIds)
  const members = await tx.run(
    sql`DELETE FROM thread_members WHERE (root_id, user_id) IN (
       SELECT root_id, user_id FROM thread_members WHERE root_id ${ofThreads}
       LIMIT ${limit})`,
  )
  if (members === limit) return
  await tx.run(sql`DELETE FROM notifications WHERE kind = 'direct' AND root_id ${ofThreads}`)
  await tx.run(sql`DELETE FROM threads WHERE root_id ${ofThreads}`)
}

/** Deletes some pieces of one large message. @returns false if it had none */
export async function deletePieces(tx: Queries, messageId: string, atOnce: (rows: number) => number): Promise<boolean> {
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
  chats: sql`user_id, name`,
}

/** Deletes up to `size` rows of one other table. @returns the number; `undefined` if no rows are left */
export async function deleteRest(tx: Queries, conversationId: string, size: number): Promise<number | undefined> {
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

/** Deletes a hidden conversation without content. By primary key. */
export async function deleteHidden(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`DELETE FROM conversations WHERE id = ${id} AND deleted_at IS NOT NULL`)
}
