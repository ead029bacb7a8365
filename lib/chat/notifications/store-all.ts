import type { Queries } from '../../storage/database.ts'
import { each, type Micros, sql } from '../../storage/sql.ts'
import { IS_READ } from '../../storage/unread-set.ts'
import type { ParticipantSettings } from '../memberships/rules-settings.ts'

/** A message that mentions all participants. */
export interface MessageToAll {
  id: string
  conversation_id: string
  root_id: string
  posted_by: string | null
  created_at: Micros
  deleted_at: Micros | null
  is_direct: number
}

/** The message, if it still mentions all. By primary key. */
export function findMessageToAll(db: Queries, messageId: string): Promise<MessageToAll | undefined> {
  return db.get<MessageToAll>(
    sql`SELECT m.id, m.conversation_id, m.root_id, m.posted_by, m.created_at, m.deleted_at, c.is_direct
       FROM messages m JOIN conversations c ON c.id = m.conversation_id
      WHERE m.id = ${messageId} AND m.mention_all = 1`,
  )
}

/** A participant, and whether the thread is read up to the message. */
export interface ToNotify extends ParticipantSettings {
  has_read: number
}

/**
 * Up to `limit` participants with ids after `after` who had joined at an instant, in the order of their ids: without
 * the author, and users with a notification of the message. By primary keys.
 */
export function listToNotify(
  db: Queries,
  { id, conversation_id, root_id, posted_by }: MessageToAll,
  { after, at, limit }: { after: string; at: Micros; limit: number },
): Promise<ToNotify[]> {
  return db.all<ToNotify>(
    sql`SELECT p.user_id, p.level, p.muted_until, p.archived,
            CASE WHEN EXISTS (SELECT 1 FROM messages m WHERE m.id = ${id} AND ${IS_READ}) THEN 1 ELSE 0 END AS has_read
       FROM participants p CROSS JOIN threads t
       LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
      WHERE t.root_id = ${root_id} AND p.conversation_id = ${conversation_id} AND p.user_id > ${after} AND p.user_id <> ${posted_by ?? ''}
        AND p.joined_at <= ${at} AND NOT EXISTS (SELECT 1 FROM notifications n WHERE n.id = ${id}
            AND n.user_id = p.user_id)
      ORDER BY p.user_id
      LIMIT ${limit}`,
  )
}

/** Stores notifications without events: of a deleted message, or of one that is read. */
export async function insertSilently(
  tx: Queries,
  { id, at, read_at, hidden }: { id: string; at: Micros; read_at: Micros | null; hidden: 0 | 1 },
  userIds: readonly string[],
): Promise<void> {
  await tx.run(
    sql`INSERT INTO notifications (user_id, id, kind, at, read_at, hidden)
     SELECT value, CAST(${id} AS TEXT), 'mention_all', CAST(${at} AS BIGINT), CAST(${read_at} AS BIGINT),
            CAST(${hidden} AS INTEGER)
       FROM ${each(tx, userIds)}`,
  )
}
