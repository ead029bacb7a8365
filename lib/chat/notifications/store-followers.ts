import type { Queries } from '../../storage/database.ts'
import { among, each, type Micros, sql } from '../../storage/sql.ts'
import { FOLLOWED_SINCE, SEEN_TO } from '../../storage/unread-set.ts'
import type { ToNotify } from './store-all.ts'

/** A reply whose followers a task notifies. */
export interface NotifyingReply {
  id: string
  root_id: string
  conversation_id: string
  posted_by: string | null
  created_at: Micros
  deleted_at: Micros | null
}

/** The reply, unless it is deleted for good. By primary key. */
export function findReply(db: Queries, messageId: string): Promise<NotifyingReply | undefined> {
  return db.get<NotifyingReply>(
    sql`SELECT id, root_id, conversation_id, posted_by, created_at, deleted_at FROM messages
      WHERE id = ${messageId} AND parent_id IS NOT NULL AND (deleted_at IS NULL OR posted_by IS NOT NULL)`,
  )
}

/** The users that a reply concerns as followers and not for another reason, among these. By primary keys. */
export function listConcerned(
  db: Queries,
  { id, root_id, posted_by, created_at }: NotifyingReply,
  userIds: readonly string[],
): Promise<ToNotify[]> {
  return db.all<ToNotify>(
    sql`SELECT p.user_id, p.level, p.muted_until, p.archived,
            CASE WHEN ${SEEN_TO} < ${created_at} THEN 0 ELSE 1 END AS has_read
       FROM threads t CROSS JOIN participants p
       JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
      WHERE t.root_id = ${root_id} AND p.conversation_id = t.conversation_id AND p.user_id ${among(db, userIds)}
        AND p.user_id <> ${posted_by ?? ''} AND ${FOLLOWED_SINCE} <= ${created_at}
        AND NOT EXISTS (SELECT 1 FROM notifications o WHERE o.id = ${id} AND o.user_id = p.user_id)`,
  )
}

/**
 * Stores notifications of a thread without events, as if the reply had made them when it arrived: hidden if it is deleted by
 * now, or read. An unread one moves to the front, and shows what it showed; nothing is read twice.
 */
export async function insertOfThreadSilently(
  tx: Queries,
  reply: NotifyingReply,
  { id, read_at }: { id: string; read_at: Micros | null },
  userIds: readonly string[],
): Promise<void> {
  const { id: message_id, root_id, conversation_id, created_at, deleted_at } = reply
  const isReadAlready = sql`EXISTS (SELECT 1 FROM notifications o WHERE o.user_id = value AND o.scope_id = ${root_id}
          AND o.read_at IS NOT NULL AND o.at >= ${created_at})`
  await tx.run(
    sql`INSERT INTO notifications (user_id, id, kind, at, conversation_id, scope_id, message_id, since, read_at, hidden)
     SELECT value, CAST(${id} AS TEXT), 'reply', CAST(${created_at} AS BIGINT), CAST(${conversation_id} AS TEXT),
            CAST(${root_id} AS TEXT), CAST(${message_id} AS TEXT), CAST(${created_at} AS BIGINT),
            CAST(${read_at} AS BIGINT), CAST(${deleted_at === null ? 0 : 1} AS INTEGER)
       FROM ${each(tx, userIds)} WHERE ${read_at === null ? sql`1 = 1` : sql`NOT ${isReadAlready}`}
     ON CONFLICT (user_id, scope_id) WHERE scope_id IS NOT NULL AND read_at IS NULL DO UPDATE
        SET at = CASE WHEN excluded.at > notifications.at THEN excluded.at ELSE notifications.at END`,
  )
}
