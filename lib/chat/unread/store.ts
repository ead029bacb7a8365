import type { Queries } from '../../storage/database.ts'
import { among, greatest, isErasedAuthor, type Micros, SOME_ERASED, type Sql, sql } from '../../storage/sql.ts'

/** The number of messages of a thread that a reader has not read. */
export interface Unread {
  root_id: string
  unread: number
}

/** A thread with unread messages, in a list by latest activity. */
interface UnreadRow extends Unread {
  last_activity_at: Micros
}

/** A participant who reads. Messages from before `joined_at` never count as unread. */
export interface ThreadReader {
  user_id: string
  joined_at: Micros
}

// A mark from before the reader joined (again) is ignored. With a mark, or in a thread that began after the reader
// joined, the result is a subtraction of counters; otherwise it counts the messages since the reader joined.
// Messages that are being removed together with their author are subtracted in `unreadOf`.
const storedUnreadOf = ({ user_id, joined_at }: ThreadReader) => sql`CASE
    WHEN r.read_at >= ${joined_at} THEN t.message_count - r.live_count - r.read_count
    WHEN t.created_at > ${joined_at} THEN t.message_count - coalesce(r.live_count, 0)
    ELSE (SELECT count(*) FROM messages m
           WHERE m.root_id = t.root_id AND m.created_at > ${joined_at} AND m.deleted_at IS NULL
             AND coalesce(m.posted_by, '') <> ${user_id})
  END`
const unreadOf = (reader: ThreadReader) => sql`(${storedUnreadOf(reader)} - CASE WHEN ${SOME_ERASED}
       THEN (SELECT count(*)
      FROM erased_authors e JOIN messages m ON m.root_id = t.root_id AND m.posted_by = e.user_id
     WHERE e.messages = 'erase' AND m.deleted_at IS NULL AND m.created_at > coalesce(r.read_at, 0)
       AND m.created_at > ${reader.joined_at})
    ELSE 0 END)`

const threadsOf = ({ user_id }: ThreadReader) =>
  sql`FROM threads t LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = ${user_id}`

/** The number of unread messages of each of these threads. By primary keys. */
export async function countUnread(db: Queries, reader: ThreadReader, rootIds: string[]): Promise<Map<string, number>> {
  const rows = await db.all<Unread>(
    sql`SELECT t.root_id, ${unreadOf(reader)} AS unread ${threadsOf(reader)} WHERE t.root_id ${among(db, rootIds)}`,
  )
  return new Map(rows.map((row) => [row.root_id, row.unread]))
}

/**
 * Up to `limit` threads of a conversation with unread messages and with their latest activity before an instant, latest
 * activity first.
 */
export function listUnread(
  db: Queries,
  reader: ThreadReader,
  conversationId: string,
  before: Micros,
  limit: number,
): Promise<UnreadRow[]> {
  return db.all<UnreadRow>(
    sql`SELECT root_id, unread, last_activity_at FROM (${unreadThreads(reader, conversationId, before)}) AS news
      WHERE unread > 0
      ORDER BY last_activity_at DESC
      LIMIT ${limit}`,
  )
}

/** The number of unread messages of a conversation. By primary keys, unless an erased user's messages are being removed. */
export async function findUnreadTotal(db: Queries, reader: ThreadReader, conversationId: string): Promise<number> {
  const row = await db.get<{ total: number }>(
    sql`SELECT ${greatest(db.dialect)}(c.message_count - p.seen_count, 0) AS total FROM participants p
          JOIN conversations c ON c.id = p.conversation_id
      WHERE p.conversation_id = ${conversationId} AND p.user_id = ${reader.user_id}`,
  )
  return row!.total > 0 && (await isErasing(db)) ? sumUnread(db, reader, conversationId) : row!.total
}

/** Whether messages are being removed together with their author: the stored counts still contain them. */
export async function isErasing(db: Queries): Promise<boolean> {
  return (await db.get(sql`SELECT 1 AS found WHERE ${SOME_ERASED}`)) !== undefined
}

/** The number of unread messages of a conversation, summed over its threads. */
export async function sumUnread(db: Queries, reader: ThreadReader, conversationId: string): Promise<number> {
  const row = await db.get<{ total: number }>(
    sql`SELECT CAST(coalesce(sum(unread), 0) AS BIGINT) AS total
          FROM (${unreadThreads(reader, conversationId, Number.MAX_SAFE_INTEGER)}) AS news`,
  )
  return row!.total
}

/**
 * The number of unread messages of each thread of a conversation, without the threads that the reader has read to the
 * end.
 *
 * In a thread that is read to the end, the mark equals the thread's last activity, an instant that no other thread of
 * the conversation has. So the difference of two index ranges, (conversation_id, last_activity_at) and (user_id,
 * marked_in, read_at), finds the other threads, and only these are read.
 */
function unreadThreads(
  reader: ThreadReader,
  conversationId: string,
  before: Micros,
  after: Micros = reader.joined_at,
): Sql {
  const { user_id } = reader
  return sql`SELECT t.root_id, t.last_activity_at, ${unreadOf(reader)} AS unread
    FROM (SELECT last_activity_at AS at FROM threads
           WHERE conversation_id = ${conversationId} AND last_activity_at > ${after}
               AND last_activity_at < ${before}
          EXCEPT
          SELECT read_at FROM thread_members
           WHERE user_id = ${user_id} AND marked_in = ${conversationId} AND read_at > ${after}
               AND read_at < ${before}
          ORDER BY 1 DESC) news
   CROSS JOIN threads t
    LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = ${user_id}
   WHERE t.conversation_id = ${conversationId} AND t.last_activity_at = news.at`
}

/**
 * Moves a reader's mark forward to `at`, and counts the messages up to it as seen. The query counts the messages after
 * the mark, so reading to the end costs the same for a thread of any length.
 *
 * @returns false if the mark was at `at` or later
 */
export async function moveMark(
  tx: Queries,
  reader: ThreadReader & { conversation_id: string },
  rootId: string,
  at: Micros,
): Promise<boolean> {
  const { user_id, joined_at } = reader
  if (at <= joined_at) return false
  const before = await countStored(tx, reader, rootId)
  const moved = await tx.run(
    sql`INSERT INTO thread_members (root_id, user_id, marked_in, read_at, read_count)
     SELECT t.root_id, CAST(${user_id} AS TEXT), t.conversation_id, CAST(${at} AS BIGINT),
         t.message_count - coalesce(r.live_count, 0) -
            (SELECT count(*) FROM messages m
              WHERE m.root_id = t.root_id AND m.created_at > ${at} AND m.deleted_at IS NULL
                AND coalesce(m.posted_by, '') <> ${user_id})
       ${threadsOf(reader)}
      WHERE t.root_id = ${rootId}
     ON CONFLICT (root_id, user_id) DO UPDATE
        SET read_at = excluded.read_at, read_count = excluded.read_count, marked_in = excluded.marked_in
      WHERE thread_members.read_at < excluded.read_at`,
  )
  if (moved === 0) return false
  await addSeen(tx, reader, before - (await countStored(tx, reader, rootId)))
  return true
}

/**
 * Moves a reader's mark back to the arrival of the last message of the thread before `before`, so that the messages from
 * `before` on are unread. A message that arrived before the reader joined stays read. Costs as {@link moveMark}.
 *
 * @returns false if the mark was there, or earlier
 */
export async function moveMarkBack(
  tx: Queries,
  reader: ThreadReader & { conversation_id: string },
  rootId: string,
  before: Micros,
): Promise<boolean> {
  const { user_id } = reader
  const unread = await countStored(tx, reader, rootId)
  // An arrival in this thread, as an instant between two arrivals may be the last activity of another thread: see `unreadThreads`.
  const moved = await tx.run(
    sql`UPDATE thread_members AS r
        SET read_at = e.at, marked_in = CASE WHEN e.at > 0 THEN r.marked_in END,
            read_count = (SELECT t.message_count FROM threads t WHERE t.root_id = r.root_id) - r.live_count -
              (SELECT count(*) FROM messages m
                WHERE m.root_id = r.root_id AND m.created_at > e.at AND m.deleted_at IS NULL
                    AND coalesce(m.posted_by, '') <> ${user_id})
       FROM (SELECT coalesce(max(created_at), 0) AS at FROM messages WHERE root_id = ${rootId}
           AND created_at < ${before}) AS e
      WHERE r.root_id = ${rootId} AND r.user_id = ${user_id} AND r.read_at > e.at`,
  )
  if (moved === 0) return false
  await addSeen(tx, reader, unread - (await countStored(tx, reader, rootId)))
  return true
}

/** Changes the number of messages of a conversation that a participant has seen. */
async function addSeen(
  tx: Queries,
  { conversation_id, user_id }: { conversation_id: string; user_id: string },
  by: number,
): Promise<void> {
  await tx.run(
    sql`UPDATE participants SET seen_count = seen_count + ${by} WHERE conversation_id = ${conversation_id}
          AND user_id = ${user_id}`,
  )
}

/** The number of unread messages by the stored counts, which contain those that are being removed with their author. */
async function countStored(tx: Queries, reader: ThreadReader, rootId: string): Promise<number> {
  const row = await tx.get<{ unread: number }>(
    sql`SELECT ${storedUnreadOf(reader)} AS unread ${threadsOf(reader)} WHERE t.root_id = ${rootId}`,
  )
  return row!.unread
}

/** The arrival of the earliest reply of a thread after `from` that a reader has not read. */
export async function findFirstInThread(
  db: Queries,
  reader: ThreadReader,
  rootId: string,
  from: Micros,
): Promise<Micros | undefined> {
  const row = await db.get<{ at: Micros | null }>(
    sql`SELECT ${firstUnread(db, reader, sql`m.root_id = t.root_id AND m.created_at > ${from}`)} AS at
          FROM threads t WHERE t.root_id = ${rootId}`,
  )
  return row?.at ?? undefined
}

/**
 * The number of unread messages of the threads of a conversation with their latest activity from `since` to before
 * `before`, and the arrival of the earliest of these messages, or of the earliest root.
 */
export async function findUnreadWindow(
  db: Queries,
  reader: ThreadReader,
  { id, before, since, isOfRoots }: { id: string; before: Micros; since: Micros; isOfRoots: boolean },
): Promise<{ unread: number; at: Micros | null }> {
  const inThread = isOfRoots ? sql`m.id = news.root_id` : sql`m.root_id = news.root_id`
  const row = await db.get<{ unread: number; at: Micros | null }>(
    sql`SELECT CAST(coalesce(sum(unread), 0) AS BIGINT) AS unread, min(at) AS at FROM (
          SELECT unread, ${firstUnread(db, reader, inThread)} AS at
            FROM (${unreadThreads(reader, id, before, since - 1)}) AS news WHERE unread > 0) AS firsts`,
  )
  return row!
}

/** The activity of the thread that is `size` threads before an instant, or of the last of them. */
export async function findActivity(
  db: Queries,
  { joined_at }: ThreadReader,
  { id, before, size }: { id: string; before: Micros; size: number },
): Promise<Micros | undefined> {
  const row = await db.get<{ at: Micros | null }>(
    sql`SELECT min(last_activity_at) AS at FROM (
          SELECT last_activity_at FROM threads
           WHERE conversation_id = ${id} AND last_activity_at > ${joined_at} AND last_activity_at < ${before}
           ORDER BY last_activity_at DESC LIMIT ${size}) AS latest`,
  )
  return row?.at ?? undefined
}

/** The arrival of the earliest unread message `m` of those that a condition names. By (root_id, created_at, posted_by). */
function firstUnread(db: Queries, { user_id, joined_at }: ThreadReader, condition: Sql): Sql {
  return sql`(SELECT m.created_at FROM messages m
      WHERE ${condition} AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> ${user_id}
        AND m.created_at > ${greatest(db.dialect)}(CAST(${joined_at} AS BIGINT), coalesce((SELECT r.read_at
              FROM thread_members r WHERE r.root_id = m.root_id AND r.user_id = ${user_id}), 0))
        AND NOT ${isErasedAuthor(sql`m.posted_by`)}
      ORDER BY m.created_at LIMIT 1)`
}
