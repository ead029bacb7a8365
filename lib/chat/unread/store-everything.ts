import type { Queries } from '../../storage/database.ts'
import { ACTIVE_AT, among, greatest, type Micros, sql } from '../../storage/sql.ts'
import { READ_FLOORS } from '../../storage/unread-set.ts'
import type { NotifiedReader } from '../notifications/store-reading.ts'
import type { ThreadReader } from './store.ts'

/** A reader of a conversation that is locked, before a mark of everything in it. */
export interface ReadPlace extends ThreadReader, NotifiedReader {
  /** The last instant of the conversation. */
  clock: Micros
  /** When a message arrived last; without one, when it was created. */
  newest: Micros
  /** 1 if a message is unread. */
  is_unread: number
  policy: string | null
  receipts: number
}

/**
 * The conversations in which a user has an unread message or notification, with their last instants. By the participations
 * and the unread notifications of the user.
 */
export function listUnread(db: Queries, userId: string): Promise<{ id: string; clock: Micros }[]> {
  return db.all<{ id: string; clock: Micros }>(
    sql`SELECT c.id, c.clock FROM (
          SELECT p.conversation_id FROM participants p JOIN conversations c ON c.id = p.conversation_id
           WHERE p.user_id = ${userId} AND c.message_count > p.seen_count
           UNION
          SELECT coalesce(n.conversation_id, m.conversation_id) FROM notifications n LEFT JOIN messages m ON m.id = n.id
           WHERE n.user_id = ${userId} AND n.read_at IS NULL) AS unread
        JOIN participants p ON p.conversation_id = unread.conversation_id AND p.user_id = ${userId}
        JOIN conversations c ON c.id = p.conversation_id
       WHERE c.deleted_at IS NULL`,
  )
}

/** What a user has read of conversations that are locked, where the user participates. By primary keys. */
export function listReadPlaces(tx: Queries, userId: string, conversationIds: readonly string[]): Promise<ReadPlace[]> {
  return tx.all<ReadPlace>(
    sql`SELECT p.conversation_id, p.user_id, ${READ_FLOORS}, p.unread_mentions, p.receipts, c.is_direct, c.policy, c.clock,
            ${ACTIVE_AT} AS newest,
            CASE WHEN c.message_count > p.seen_count OR p.followed_unread > 0 OR p.followed_threads > 0 THEN 1 ELSE 0
            END AS is_unread
       FROM conversations c JOIN participants p ON p.conversation_id = c.id AND p.user_id = ${userId}
      WHERE c.id ${among(tx, conversationIds)} AND c.deleted_at IS NULL`,
  )
}

/** The arrival of the newest message of a conversation up to an instant. By the indexes by arrival. */
export async function findNewestUpTo(db: Queries, conversationId: string, upTo: Micros): Promise<Micros> {
  const arrival = (kind: ReturnType<typeof sql>) =>
    sql`SELECT max(created_at) AS at FROM messages
         WHERE conversation_id = ${conversationId} AND ${kind} AND created_at <= ${upTo}`
  const row = await db.get<{ at: Micros | null }>(
    sql`SELECT max(at) AS at FROM (${arrival(sql`parent_id IS NULL`)} UNION ALL ${arrival(sql`parent_id IS NOT NULL`)}) AS newest`,
  )
  return row?.at ?? 0
}

/**
 * Marks all messages of conversations as read, which are locked. The last instant of a conversation is that of the mark: each
 * later mark has a later one, so this writes no row of a conversation, nor of a thread.
 */
export async function setEverythingRead(
  tx: Queries,
  userId: string,
  conversationIds: readonly string[],
): Promise<void> {
  const later = greatest(tx.dialect)
  await tx.run(
    sql`UPDATE participants
        SET replies_read_to = ${later}(participants.replies_read_to, c.newest), replies_read_at = c.clock,
            roots_read_to = ${later}(participants.roots_read_to, c.newest), roots_read_at = c.clock,
            seen_count = c.message_count, seen_roots = c.root_count, seen_replies = c.message_count - c.root_count,
            followed_unread = 0, followed_threads = 0, unread_mentions = 0
       FROM (SELECT c.id, c.clock, c.message_count, c.root_count, ${ACTIVE_AT} AS newest
               FROM conversations c WHERE c.id ${among(tx, conversationIds)}) AS c
      WHERE participants.conversation_id = c.id AND participants.user_id = ${userId}`,
  )
}
