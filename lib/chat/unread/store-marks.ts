import type { Queries } from '../../storage/database.ts'
import { type Micros, type Sql, sql } from '../../storage/sql.ts'
import { addSeen, countThread, difference } from '../../storage/unread-counts.ts'
import { OTHERS, ROOT_IS_UNREAD, SEEN_TO, threadsOf } from '../../storage/unread-set.ts'
import type { ThreadReader } from './store.ts'

/**
 * Moves a reader's mark of a thread forward to `at`, and counts the messages up to it as seen. The query counts the messages
 * after the mark, so reading to the end costs the same for a thread of any length.
 *
 * @returns false if all of it was read up to `at`
 */
export async function moveMark(tx: Queries, reader: ThreadReader, rootId: string, at: Micros): Promise<boolean> {
  if (at <= reader.joined_at) return false
  const before = await countThread(tx, reader, rootId)
  const moved = await tx.run(
    sql`INSERT INTO thread_members (root_id, user_id, marked_in, read_at, read_count)
     SELECT t.root_id, p.user_id, t.conversation_id, CAST(${at} AS BIGINT), ${readUpTo(sql`${at}`)}
       ${threadsOf(reader, sql`t.root_id = ${rootId} AND (${SEEN_TO} < ${at} OR ${ROOT_IS_UNREAD})`)}
     ON CONFLICT (root_id, user_id) DO UPDATE
        SET read_at = CASE WHEN ${IS_LATER} THEN excluded.read_at ELSE thread_members.read_at END,
            read_count = CASE WHEN ${IS_LATER} THEN excluded.read_count ELSE thread_members.read_count END,
            marked_in = excluded.marked_in, root_unread_at = 0,
            reopened_at = CASE WHEN ${IS_LATER} AND excluded.read_at >= ${reader.replies_read_to} THEN 0
                               ELSE thread_members.reopened_at END`,
  )
  if (moved === 0) return false
  await addSeen(tx, reader, difference(before, await countThread(tx, reader, rootId)))
  return true
}

const IS_LATER = sql`thread_members.read_at < excluded.read_at`

/** The messages of others that arrived up to an instant. */
const readUpTo = (at: Sql) => sql`${OTHERS} - (SELECT count(*) FROM messages m
              WHERE m.root_id = t.root_id AND m.created_at > ${at} AND m.deleted_at IS NULL
                AND coalesce(m.posted_by, '') <> p.user_id)`

/** The first message that becomes unread. */
export interface FirstUnread {
  /** Its arrival. */
  at: Micros
  is_root: boolean
  /** When it is marked, an instant of the conversation. */
  marked_at: Micros
}

/**
 * Moves a reader's mark of a thread back to the arrival of the last message before `first`, so that the messages from it on
 * are unread: the root only if it is the first. A message that arrived before the reader joined stays read. Costs as
 * {@link moveMark}.
 *
 * @returns false if all of them were unread
 */
export async function moveMarkBack(
  tx: Queries,
  reader: ThreadReader,
  rootId: string,
  { at, is_root, marked_at }: FirstUnread,
): Promise<boolean> {
  const before = await countThread(tx, reader, rootId)
  // An arrival in this thread, as an instant between two arrivals may be the last activity of another thread: see `unreadThreads`.
  const end = sql`(SELECT coalesce(max(created_at), 0) FROM messages WHERE root_id = ${rootId} AND created_at < ${at})`
  const { arrival } = (await tx.get<{ arrival: Micros }>(sql`SELECT ${end} AS arrival`))!
  const stamp = (isException: Sql, column: Sql) =>
    sql`CASE WHEN ${isException} THEN CAST(${marked_at} AS BIGINT) ELSE coalesce(${column}, 0) END`
  const isMoved = sql`(${SEEN_TO} > ${arrival} AND ${SEEN_TO} > p.joined_at)`
  const isPutBack = sql`(t.created_at > p.joined_at AND NOT ${ROOT_IS_UNREAD})`
  const moved = await tx.run(
    sql`INSERT INTO thread_members (root_id, user_id, marked_in, reopened_in, read_at, read_count, reopened_at,
                                    root_unread_at)
     SELECT t.root_id, p.user_id, ${arrival > 0 ? sql`t.conversation_id` : sql`NULL`}, t.conversation_id,
            CAST(${arrival} AS BIGINT), ${readUpTo(sql`${arrival}`)},
            ${stamp(sql`p.replies_read_to > ${arrival}`, sql`r.reopened_at`)},
            ${stamp(is_root ? sql`t.created_at <= p.roots_read_to` : ROOT_IS_UNREAD, sql`r.root_unread_at`)}
       ${threadsOf(reader, sql`t.root_id = ${rootId} AND ${is_root ? sql`(${isMoved} OR ${isPutBack})` : isMoved}`)}
     ON CONFLICT (root_id, user_id) DO UPDATE
        SET read_at = excluded.read_at, read_count = excluded.read_count, marked_in = excluded.marked_in,
            reopened_in = excluded.reopened_in, reopened_at = excluded.reopened_at,
            root_unread_at = excluded.root_unread_at`,
  )
  if (moved === 0) return false
  await addSeen(tx, reader, difference(before, await countThread(tx, reader, rootId)))
  return true
}
