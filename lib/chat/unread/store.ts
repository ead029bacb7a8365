import type { Queries } from '../../storage/database.ts'
import { jsonList, listOf, type Micros, SOME_ERASED } from '../../storage/sql.ts'

/** What a thread has that a reader has not read. */
export interface Unread {
  root_id: string
  unread: number
}

/** The same in a list by latest activity. */
interface UnreadRow extends Unread {
  last_activity_at: Micros
}

/** Who reads, and since when they take part: what was there before never counts. */
export interface ThreadReader {
  user_id: string
  joined_at: Micros
}

// A mark from before the reader joined (again) is none. With a mark, or for a thread that began after the reader joined,
// the answer is a subtraction of counters; else the messages since the joining are counted.
// What was erased with its author, and is being removed, is not unread any more.
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

/** How much of each of these threads is unread. By primary keys. */
export async function countUnread(db: Queries, reader: ThreadReader, rootIds: string[]): Promise<Map<string, number>> {
  const { user_id, joined_at } = reader
  const rows = await db.all<Unread>(
    `SELECT t.root_id, ${COUNT} AS unread ${FROM_THREADS} WHERE t.root_id IN ${listOf(db.dialect)}`,
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
 * Up to `limit` threads of a conversation in which something is unread and that were last active before an instant,
 * latest activity first.
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

/** How much of a conversation is unread in all. By primary keys, unless messages of an erased user are being removed. */
export async function findUnreadTotal(db: Queries, reader: ThreadReader, conversationId: string): Promise<number> {
  const row = await db.get<{ total: number }>(
    `SELECT c.message_count - p.seen_count AS total FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.conversation_id = ? AND p.user_id = ?`,
    conversationId,
    reader.user_id,
  )
  return row!.total > 0 && (await isErasing(db)) ? sumUnread(db, reader, conversationId) : row!.total
}

/** Whether messages are being removed together with their author: they count as stored, and not as unread. */
export async function isErasing(db: Queries): Promise<boolean> {
  return (await db.get(`SELECT 1 AS found WHERE ${SOME_ERASED}`)) !== undefined
}

/** How much of a conversation is unread in all, thread by thread. */
export async function sumUnread(db: Queries, reader: ThreadReader, conversationId: string): Promise<number> {
  const row = await db.get<{ total: number }>(
    `SELECT CAST(coalesce(sum(unread), 0) AS BIGINT) AS total FROM (${UNREAD}) AS news`,
    ...unreadParameters(reader, conversationId, Number.MAX_SAFE_INTEGER),
  )
  return row!.total
}

/**
 * How much is unread in each thread of a conversation where the reader's mark is not at the end.
 *
 * A mark at the end of a thread is the thread's last activity itself, and no other thread of the conversation has that
 * instant: two ranges of numbers, (conversation_id, last_activity_at) and (user_id, marked_in, read_at), are walked side
 * by side, and only where they differ a thread is looked at.
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
 * Moves a reader's mark on to `at`, never back, and counts what it passes as seen. What is after it is counted, so reading
 * to the end costs the same however long the thread is.
 *
 * @returns whether it moved
 */
export async function moveMark(
  tx: Queries,
  reader: ThreadReader & { conversation_id: string },
  rootId: string,
  at: Micros,
): Promise<boolean> {
  const { user_id, joined_at, conversation_id } = reader
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
  const read = before - (await countStored(tx, reader, rootId))
  await tx.run(
    'UPDATE participants SET seen_count = seen_count + ? WHERE conversation_id = ? AND user_id = ?',
    read,
    conversation_id,
    user_id,
  )
  return true
}

/** What is unread in a thread by its stored counts: with messages that are being removed together with their author. */
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
