import type { Queries } from '../../storage/database.ts'
import { greatest, isOneOf, jsonList, type Micros, SOME_ERASED } from '../../storage/sql.ts'

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
// Messages that are being removed together with their author are subtracted in COUNT.
const STORED = `CASE
    WHEN r.read_at >= ? THEN t.message_count - r.live_count - r.read_count
    WHEN t.created_at > ? THEN t.message_count - coalesce(r.live_count, 0)
    ELSE (SELECT count(*) FROM messages m
           WHERE m.root_id = t.root_id AND m.created_at > ? AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> ?)
  END`
const COUNT = `(${STORED} - CASE WHEN ${SOME_ERASED} THEN (SELECT count(*)
      FROM erased_authors e JOIN messages m ON m.root_id = t.root_id AND m.posted_by = e.user_id
     WHERE e.messages = 'erase' AND m.deleted_at IS NULL AND m.created_at > coalesce(r.read_at, 0) AND m.created_at > ?)
    ELSE 0 END)`

const FROM_THREADS = 'FROM threads t LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = ?'

/** The number of unread messages of each of these threads. By primary keys. */
export async function countUnread(db: Queries, reader: ThreadReader, rootIds: string[]): Promise<Map<string, number>> {
  const { user_id, joined_at } = reader
  const rows = await db.all<Unread>(
    `SELECT t.root_id, ${COUNT} AS unread ${FROM_THREADS} WHERE t.root_id ${isOneOf(db.dialect)}`,
    joined_at,
    joined_at,
    joined_at,
    user_id,
    joined_at,
    user_id,
    jsonList(rootIds),
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
    `SELECT root_id, unread, last_activity_at FROM (${UNREAD}) AS news
      WHERE unread > 0
      ORDER BY last_activity_at DESC
      LIMIT ?`,
    ...unreadParameters(reader, conversationId, before),
    limit,
  )
}

/** The number of unread messages of a conversation. By primary keys, unless an erased user's messages are being removed. */
export async function findUnreadTotal(db: Queries, reader: ThreadReader, conversationId: string): Promise<number> {
  const row = await db.get<{ total: number }>(
    `SELECT ${greatest(db.dialect)}(c.message_count - p.seen_count, 0) AS total FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.conversation_id = ? AND p.user_id = ?`,
    conversationId,
    reader.user_id,
  )
  return row!.total > 0 && (await isErasing(db)) ? sumUnread(db, reader, conversationId) : row!.total
}

/** Whether messages are being removed together with their author: the stored counts still contain them. */
export async function isErasing(db: Queries): Promise<boolean> {
  return (await db.get(`SELECT 1 AS found WHERE ${SOME_ERASED}`)) !== undefined
}

/** The number of unread messages of a conversation, summed over its threads. */
export async function sumUnread(db: Queries, reader: ThreadReader, conversationId: string): Promise<number> {
  const row = await db.get<{ total: number }>(
    `SELECT CAST(coalesce(sum(unread), 0) AS BIGINT) AS total FROM (${UNREAD}) AS news`,
    ...unreadParameters(reader, conversationId, Number.MAX_SAFE_INTEGER),
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
const UNREAD = `SELECT t.root_id, t.last_activity_at, ${COUNT} AS unread
    FROM (SELECT last_activity_at AS at FROM threads
           WHERE conversation_id = ? AND last_activity_at > ? AND last_activity_at < ?
          EXCEPT
          SELECT read_at FROM thread_members WHERE user_id = ? AND marked_in = ? AND read_at > ? AND read_at < ?
          ORDER BY 1 DESC) news
   CROSS JOIN threads t
    LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = ?
   WHERE t.conversation_id = ? AND t.last_activity_at = news.at`

function unreadParameters({ user_id, joined_at }: ThreadReader, conversationId: string, before: Micros) {
  const inThread = [joined_at, joined_at, joined_at, user_id, joined_at]
  const active = [conversationId, joined_at, before]
  const marked = [user_id, conversationId, joined_at, before]
  return [...inThread, ...active, ...marked, user_id, conversationId]
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
    `INSERT INTO thread_members (root_id, user_id, marked_in, read_at, read_count)
     SELECT t.root_id, CAST(? AS TEXT), t.conversation_id, CAST(? AS BIGINT), t.message_count - coalesce(r.live_count, 0) -
            (SELECT count(*) FROM messages m
              WHERE m.root_id = t.root_id AND m.created_at > ? AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> ?)
       ${FROM_THREADS}
      WHERE t.root_id = ?
     ON CONFLICT (root_id, user_id) DO UPDATE
        SET read_at = excluded.read_at, read_count = excluded.read_count, marked_in = excluded.marked_in
      WHERE thread_members.read_at < excluded.read_at`,
    user_id,
    at,
    at,
    user_id,
    user_id,
    rootId,
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
  // An arrival in this thread, as an instant between two arrivals may be the last activity of another thread: see UNREAD.
  const moved = await tx.run(
    `UPDATE thread_members AS r
        SET read_at = e.at, marked_in = CASE WHEN e.at > 0 THEN r.marked_in END,
            read_count = (SELECT t.message_count FROM threads t WHERE t.root_id = r.root_id) - r.live_count -
              (SELECT count(*) FROM messages m
                WHERE m.root_id = r.root_id AND m.created_at > e.at AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> ?)
       FROM (SELECT coalesce(max(created_at), 0) AS at FROM messages WHERE root_id = ? AND created_at < ?) AS e
      WHERE r.root_id = ? AND r.user_id = ? AND r.read_at > e.at`,
    user_id,
    rootId,
    before,
    rootId,
    user_id,
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
    'UPDATE participants SET seen_count = seen_count + ? WHERE conversation_id = ? AND user_id = ?',
    by,
    conversation_id,
    user_id,
  )
}

/** The number of unread messages by the stored counts, which contain those that are being removed with their author. */
async function countStored(tx: Queries, { user_id, joined_at }: ThreadReader, rootId: string): Promise<number> {
  const row = await tx.get<{ unread: number }>(
    `SELECT ${STORED} AS unread ${FROM_THREADS} WHERE t.root_id = ?`,
    joined_at,
    joined_at,
    joined_at,
    user_id,
    user_id,
    rootId,
  )
  return row!.unread
}
