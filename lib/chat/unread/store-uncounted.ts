import type { Queries } from '../../storage/database.ts'
import { among, sql } from '../../storage/sql.ts'
import type { UnreadParts } from '../../storage/unread-counts.ts'
import { IS_COUNTED, READ_FLOORS, ROOT_COUNT } from '../../storage/unread-set.ts'
import type { ThreadReader } from './store.ts'

/** A participant, by primary key. */
export interface Place {
  conversation_id: string
  user_id: string
}

/**
 * The participants among the next `limit` after one whose unread messages are not counted by parts. By primary keys.
 *
 * @returns with `last`, the participant to continue after, if more may follow
 */
export async function listUncounted(
  db: Queries,
  after: Place,
  limit: number,
): Promise<{ places: Place[]; last?: Place }> {
  const rows = await db.all<Place & { is_counted: number }>(
    sql`SELECT p.conversation_id, p.user_id, CASE WHEN ${IS_COUNTED} THEN 1 ELSE 0 END AS is_counted
      FROM (SELECT * FROM participants
             WHERE (conversation_id, user_id) > (${after.conversation_id}, ${after.user_id})
             ORDER BY conversation_id, user_id LIMIT ${limit}) AS p
      JOIN conversations c ON c.id = p.conversation_id
     ORDER BY p.conversation_id, p.user_id`,
  )
  const last = rows.length === limit ? rows.at(-1)! : undefined
  return { places: rows.filter((row) => row.is_counted === 0), ...(last && { last }) }
}

/** Whether an older process has changed the conversation since its roots were counted. By primary key. */
export async function isUncounted(tx: Queries, conversationId: string): Promise<boolean> {
  const row = await tx.get(
    sql`SELECT 1 AS found FROM conversations WHERE id = ${conversationId} AND coalesce(counted_seq, -1) <> last_seq`,
  )
  return row !== undefined
}

/** Counts the roots of a conversation, which is locked; then all its participants are uncounted. */
export async function countRoots(tx: Queries, conversationId: string): Promise<void> {
  await tx.run(
    sql`UPDATE conversations SET root_count = ${ROOT_COUNT}, counted_seq = last_seq WHERE id = ${conversationId}`,
  )
  await tx.run(sql`UPDATE participants SET followed_unread = NULL WHERE conversation_id = ${conversationId}`)
}

/** How far participants have read a conversation. By primary keys. */
export function listReaders(tx: Queries, conversationId: string, userIds: string[]): Promise<ThreadReader[]> {
  return tx.all<ThreadReader>(
    sql`SELECT p.conversation_id, p.user_id, ${READ_FLOORS} FROM participants p
      WHERE p.conversation_id = ${conversationId} AND p.user_id ${among(tx, userIds)}`,
  )
}

/** Stores the parts of what is unread for a participant of a conversation, which is locked. */
export async function storeParts(tx: Queries, reader: ThreadReader, parts: UnreadParts): Promise<void> {
  const { roots, followed, threads } = parts
  const seenRoots = sql`c.root_count - CAST(${roots} AS BIGINT)`
  await tx.run(
    sql`UPDATE participants SET seen_roots = ${seenRoots}, seen_replies = participants.seen_count - (${seenRoots}),
            followed_unread = CAST(${followed} AS BIGINT), followed_threads = CAST(${threads} AS BIGINT)
       FROM conversations c
      WHERE c.id = participants.conversation_id AND participants.conversation_id = ${reader.conversation_id}
        AND participants.user_id = ${reader.user_id}`,
  )
}
