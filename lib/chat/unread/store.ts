import type { Queries } from '../../storage/database.ts'
import { among, isErasedAuthor, type Micros, SOME_ERASED, type Sql, sql } from '../../storage/sql.ts'
import { type CountedColumns, countedUnread, type UnreadParts } from '../../storage/unread-counts.ts'
import {
  FOLLOWED_SINCE,
  HAS_NEWS,
  IS_UNREAD,
  isFollowedUnread,
  READ_FLOORS,
  type Reader,
  ROOT_IS_UNREAD,
  SEEN_TO,
  STORED_FOLLOWED,
  STORED_UNREAD,
  STORED_UNREAD_REPLIES,
  threadsOf,
  threadsOfUser,
  UNREAD_ROOT,
} from '../../storage/unread-set.ts'
import type { Layout } from '../conversations/schema-look.ts'
import type { ReadFloors } from '../memberships/store.ts'
import { toUnread, type UnreadNumbers } from './rules.ts'

/** The number of messages of a thread that a reader has not read, and of its replies alone. */
export interface Unread {
  root_id: string
  unread: number
  unread_replies: number
  /** 1 if the reader follows the thread. */
  following: number
}

/** A thread with unread messages, in a list by latest activity. */
interface UnreadRow {
  root_id: string
  unread: number
  last_activity_at: Micros
}

/** A participant who reads, and how far. */
export interface ThreadReader extends Reader, ReadFloors {}

// Messages that are being removed together with their author are subtracted.
const erased = (condition: Sql) => sql`CASE WHEN ${SOME_ERASED}
       THEN (SELECT count(*)
      FROM erased_authors e JOIN messages m ON m.root_id = t.root_id AND m.posted_by = e.user_id
     WHERE e.messages = 'erase' AND m.deleted_at IS NULL AND ${condition} AND ${IS_UNREAD})
    ELSE 0 END`
const UNREAD = sql`(${STORED_UNREAD} - ${erased(sql`true`)})`
const UNREAD_REPLIES = sql`(${STORED_UNREAD_REPLIES} - ${erased(sql`m.parent_id IS NOT NULL`)})`
const PARTS = {
  roots: sql`(${UNREAD_ROOT} - ${erased(sql`m.parent_id IS NULL`)})`,
  replies: UNREAD_REPLIES,
  followed: sql`(${STORED_FOLLOWED} - ${erased(sql`m.parent_id IS NOT NULL AND ${isFollowedUnread(sql`m.created_at`)}`)})`,
  threads: HAS_NEWS,
}

const UNREAD_COLUMNS = sql`t.root_id, ${UNREAD} AS unread, ${UNREAD_REPLIES} AS unread_replies,
  CASE WHEN ${FOLLOWED_SINCE} IS NULL THEN 0 ELSE 1 END AS following`

/** The numbers of unread messages of each of these threads of the conversation. By primary keys. */
export async function countUnread(db: Queries, reader: Reader, rootIds: string[]): Promise<Map<string, Unread>> {
  const rows = await db.all<Unread>(
    sql`SELECT ${UNREAD_COLUMNS} ${threadsOf(reader, sql`t.root_id ${among(db, rootIds)}`)}`,
  )
  return new Map(rows.map((row) => [row.root_id, row]))
}

/** As {@link countUnread}, of threads of any conversations of the user. */
export async function countUnreadOf(db: Queries, userId: string, rootIds: string[]): Promise<Map<string, Unread>> {
  const rows = await db.all<Unread>(
    sql`SELECT ${UNREAD_COLUMNS} ${threadsOfUser(userId, sql`t.root_id ${among(db, rootIds)}`)}`,
  )
  return new Map(rows.map((row) => [row.root_id, row]))
}

/**
 * Up to `limit` threads of a conversation with unread messages and with their latest activity before an instant, latest
 * activity first.
 */
export function listUnread(db: Queries, reader: ThreadReader, before: Micros, limit: number): Promise<UnreadRow[]> {
  return db.all<UnreadRow>(
    sql`SELECT root_id, unread, last_activity_at FROM (${unreadThreads(reader, sql`${UNREAD} AS unread`, { before })}) AS news
      WHERE unread > 0
      ORDER BY last_activity_at DESC
      LIMIT ${limit}`,
  )
}

/** What is unread in a conversation by the stored counts, and its layout. */
export interface CountedUnread extends CountedColumns {
  layout: Layout | null
  is_direct: number
}

/** What is unread in a thread that a user follows, and in its conversation. */
export interface FollowedUnread extends CountedUnread {
  user_id: string
  conversation_id: string
  unread: number
  unread_replies: number
  /** The arrival of the newest message of the conversation. */
  newest: Micros
  is_erasing: number
}

/**
 * What is unread for those of these users who follow a thread, if its conversation is a stream. By primary keys: users who
 * do not follow it cost a look-up.
 */
export function listFollowedUnread(db: Queries, rootId: string, userIds: Iterable<string>): Promise<FollowedUnread[]> {
  return db.all<FollowedUnread>(
    sql`SELECT p.user_id, c.id AS conversation_id, ${UNREAD} AS unread, ${UNREAD_REPLIES} AS unread_replies,
            c.layout, c.is_direct, ${countedUnread(db)},
            (SELECT max(last_activity_at) FROM threads WHERE conversation_id = c.id) AS newest,
            CASE WHEN ${SOME_ERASED} THEN 1 ELSE 0 END AS is_erasing
       FROM threads t CROSS JOIN conversations c CROSS JOIN participants p
       LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
      WHERE t.root_id = ${rootId} AND c.id = t.conversation_id AND (c.is_direct = 1 OR c.layout = 'stream')
        AND p.conversation_id = c.id AND p.user_id ${among(db, userIds)}
        AND (c.is_direct = 1 OR (r.user_id IS NOT NULL AND ${FOLLOWED_SINCE} IS NOT NULL))`,
  )
}

/** The numbers of unread messages of a conversation. By primary keys, where {@link toNumbers} reads no more. */
export async function findUnread(db: Queries, { conversation_id, user_id }: Reader): Promise<UnreadNumbers> {
  const row = await db.get<CountedUnread>(
    sql`SELECT c.layout, c.is_direct, ${countedUnread(db)} FROM participants p
          JOIN conversations c ON c.id = p.conversation_id
      WHERE p.conversation_id = ${conversation_id} AND p.user_id = ${user_id}`,
  )
  return toNumbers(db, { conversation_id, user_id }, row!, row!.total > 0 && (await isErasing(db)))
}

/**
 * The numbers of unread messages of a conversation from what is counted, or summed over its threads: after the upgrade, and
 * while an erased user's messages are being removed.
 */
export async function toNumbers(
  db: Queries,
  reader: Reader,
  row: CountedUnread,
  isBeingErased: boolean,
): Promise<UnreadNumbers> {
  const { total, roots, followed } = row
  if (total === 0) return toUnread(row, { roots: 0, replies: 0, followed: 0 })
  if (row.is_counted === 0 || isBeingErased) return toUnread(row, await sumUnread(db, reader))
  return toUnread(row, { roots: roots!, replies: total - roots!, followed: followed! })
}

/** Whether messages are being removed together with their author: the stored counts still contain them. */
export async function isErasing(db: Queries): Promise<boolean> {
  return (await db.get(sql`SELECT 1 AS found WHERE ${SOME_ERASED}`)) !== undefined
}

/** What is unread in a conversation, summed over its threads. */
async function sumUnread(db: Queries, { conversation_id, user_id }: Reader): Promise<UnreadParts> {
  const floors = (await db.get<ReadFloors>(
    sql`SELECT ${READ_FLOORS} FROM participants p WHERE p.conversation_id = ${conversation_id} AND p.user_id = ${user_id}`,
  ))!
  return sum(db, { conversation_id, user_id, ...floors }, PARTS)
}

/** What is unread in a conversation, summed over its threads, with the messages that are being removed with their author. */
export function sumStored(db: Queries, reader: ThreadReader): Promise<UnreadParts> {
  return sum(db, reader, {
    roots: UNREAD_ROOT,
    replies: STORED_UNREAD_REPLIES,
    followed: STORED_FOLLOWED,
    threads: HAS_NEWS,
  })
}

async function sum(db: Queries, reader: ThreadReader, parts: Record<keyof UnreadParts, Sql>) {
  const { roots, replies, followed, threads } = parts
  const columns = sql`${roots} AS roots, ${replies} AS replies, ${followed} AS followed, ${threads} AS threads`
  const row = await db.get<UnreadParts>(
    sql`SELECT CAST(coalesce(sum(roots), 0) AS BIGINT) AS roots, CAST(coalesce(sum(replies), 0) AS BIGINT) AS replies,
               CAST(coalesce(sum(followed), 0) AS BIGINT) AS followed, CAST(coalesce(sum(threads), 0) AS BIGINT) AS threads
          FROM (${unreadThreads(reader, columns, {})}) AS news`,
  )
  return row!
}

/** The threads with their latest activity between two instants. */
interface Window {
  before?: Micros
  after?: Micros
}

/**
 * What is unread in each thread of a conversation, without the threads that the reader has read to the
 * end.
 *
 * In a thread that is read to the end by a marker of its own, the marker equals the thread's last activity, an instant that
 * no other thread of the conversation has. So the difference of index ranges finds the other threads: of
 * (conversation_id, last_activity_at), and for replies after a mark of the roots of `threads_with_replies`, without the range
 * of (user_id, marked_in, read_at). What was marked unread is in indexes of its own.
 */
function unreadThreads(
  reader: ThreadReader,
  columns: Sql,
  { before = Number.MAX_SAFE_INTEGER, after = 0 }: Window,
): Sql {
  const { user_id, conversation_id, joined_at, replies_read_to, roots_read_to } = reader
  const active = (floor: Micros) =>
    sql`SELECT last_activity_at AS at FROM threads
         WHERE conversation_id = ${conversation_id} AND last_activity_at > ${Math.max(joined_at, floor, after)}
             AND last_activity_at < ${before}`
  const reopened = (isLater: Sql) =>
    sql`SELECT t.last_activity_at AS at FROM thread_members r JOIN threads t ON t.root_id = r.root_id
         WHERE r.user_id = ${user_id} AND r.reopened_in = ${conversation_id} AND ${isLater}
             AND t.last_activity_at > ${after} AND t.last_activity_at < ${before}`
  const withReplies = sql`UNION ${active(replies_read_to)} AND last_activity_at > created_at`
  // No earlier marker can be the last activity of one of these threads.
  const first = Math.max(joined_at, Math.min(replies_read_to, roots_read_to), after)
  return sql`SELECT t.root_id, t.last_activity_at, ${columns}
    FROM (${active(roots_read_to)} ${replies_read_to < roots_read_to ? withReplies : sql``}
          EXCEPT
          SELECT read_at FROM thread_members
           WHERE user_id = ${user_id} AND marked_in = ${conversation_id} AND read_at > ${first}
               AND read_at < ${before}
          UNION ${reopened(sql`r.reopened_at > ${reader.replies_read_at} AND r.reopened_at > 0`)}
          UNION ${reopened(sql`r.root_unread_at > ${reader.roots_read_at} AND r.root_unread_at > 0`)}
          ORDER BY 1 DESC) news
   CROSS JOIN participants p
   CROSS JOIN threads t
    LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
   WHERE p.conversation_id = ${conversation_id} AND p.user_id = ${user_id}
     AND t.conversation_id = ${conversation_id} AND t.last_activity_at = news.at`
}

const IS_LIVE = sql`m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> p.user_id
    AND NOT ${isErasedAuthor(sql`m.posted_by`)}`

/** The arrival of the earliest unread reply of a thread. By (root_id, created_at, posted_by). */
const FIRST_REPLY = sql`(SELECT m.created_at FROM messages m
    WHERE m.root_id = t.root_id AND m.parent_id IS NOT NULL AND m.created_at > ${SEEN_TO} AND ${IS_LIVE}
    ORDER BY m.created_at LIMIT 1)`

/** The arrival of the root of a thread, if it is unread. */
const FIRST_ROOT = sql`(SELECT m.created_at FROM messages m WHERE m.id = t.root_id AND ${ROOT_IS_UNREAD} AND ${IS_LIVE})`

/** The arrival of the earliest reply of a thread that a reader has not read. */
export async function findFirstInThread(db: Queries, reader: Reader, rootId: string): Promise<Micros | undefined> {
  const row = await db.get<{ at: Micros | null }>(
    sql`SELECT ${FIRST_REPLY} AS at ${threadsOf(reader, sql`t.root_id = ${rootId}`)}`,
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
  { before, since, isOfRoots }: { before: Micros; since: Micros; isOfRoots: boolean },
): Promise<{ unread: number; at: Micros | null }> {
  const first = isOfRoots ? FIRST_ROOT : sql`coalesce(${FIRST_ROOT}, ${FIRST_REPLY})`
  const columns = sql`${UNREAD} AS unread, ${first} AS at`
  const row = await db.get<{ unread: number; at: Micros | null }>(
    sql`SELECT CAST(coalesce(sum(unread), 0) AS BIGINT) AS unread, min(at) AS at
          FROM (${unreadThreads(reader, columns, { before, after: since - 1 })}) AS firsts`,
  )
  return row!
}

/** The activity of the thread that is `size` threads before an instant, or of the last of them. */
export async function findActivity(
  db: Queries,
  { conversation_id, joined_at }: ThreadReader,
  { before, size }: { before: Micros; size: number },
): Promise<Micros | undefined> {
  const row = await db.get<{ at: Micros | null }>(
    sql`SELECT min(last_activity_at) AS at FROM (
          SELECT last_activity_at FROM threads
           WHERE conversation_id = ${conversation_id} AND last_activity_at > ${joined_at}
             AND last_activity_at < ${before}
           ORDER BY last_activity_at DESC LIMIT ${size}) AS latest`,
  )
  return row?.at ?? undefined
}
