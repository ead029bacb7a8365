import type { Place } from '../../core/pages.ts'
import type { Queries } from '../../storage/database.ts'
import { LAST_REPLY_AT } from '../../storage/reply-state.ts'
import { among, isErasedAuthor, join, literal, type Sql, sql } from '../../storage/sql.ts'
import { FOLLOWED_SINCE, IS_COUNTED, READ_FLOOR, SEEN_TO, threadsOfUser } from '../../storage/unread-set.ts'

/** The conversations that are looked up by one statement: SQLite joins 500 parts at most. */
const CONVERSATIONS_AT_ONCE = 100

/** The sizes of the parts of a list that are read at a time. */
const PARTS = [64, 256, 1024]

/** Where a page begins, and the number of its entries. */
interface Page {
  after: Place
  limit: number
}

/** Up to `size` entries of a list after a place, in its order. */
type ReadPart = (after: Place, size: number) => Promise<Place[]>

/**
 * Up to `limit` entries of a list after a place, latest activity first: part by part, until enough of them are visible.
 * An entry may be outdated: its thread has no live reply, or the user has left the conversation.
 */
async function listVisible(
  db: Queries,
  readPart: ReadPart,
  { user_id, after, limit, condition }: Page & { user_id: string; condition: Sql },
): Promise<Place[]> {
  const visible: Place[] = []
  let place = after
  for (let n = PARTS.findIndex((size) => size >= limit); ; n = Math.min(n + 1, PARTS.length - 1)) {
    const part = await readPart(place, PARTS[n]!)
    const ids = await listMatching(db, user_id, part, condition)
    visible.push(...part.filter(({ id }) => ids.has(id)))
    if (visible.length >= limit || part.length < PARTS[n]!) return visible.slice(0, limit)
    place = part.at(-1)!
  }
}

/** Which of these threads the user may read and follows, and meet a condition. By primary keys. */
async function listMatching(db: Queries, userId: string, entries: Place[], condition: Sql): Promise<Set<string>> {
  if (entries.length === 0) return new Set()
  const ids = entries.map(({ id }) => id)
  const rows = await db.all<{ root_id: string }>(
    sql`SELECT t.root_id ${threadsOfUser(userId, sql`t.root_id ${among(db, ids)}`)}
         AND ${FOLLOWED_SINCE} IS NOT NULL AND ${condition}
         AND EXISTS (SELECT 1 FROM conversations c WHERE c.id = t.conversation_id AND c.deleted_at IS NULL)`,
  )
  return new Set(rows.map(({ root_id }) => root_id))
}

const isAfter = ({ at, id }: Place) => sql`listed_at <= ${at} AND (listed_at < ${at} OR root_id < ${id})`

/** Up to `limit` threads with a reply that a user follows, after a place, latest activity first. By `followed_threads`. */
export function listFollowed(db: Queries, user_id: string, { after, limit }: Page): Promise<Place[]> {
  const readPart: ReadPart = (place, size) =>
    db.all<Place>(
      sql`SELECT listed_at AS at, root_id AS id FROM thread_members
         WHERE user_id = ${user_id} AND listed_at IS NOT NULL AND ${isAfter(place)}
         ORDER BY listed_at DESC, root_id DESC LIMIT ${literal(size)}`,
    )
  return listVisible(db, readPart, { user_id, after, limit, condition: sql`${LAST_REPLY_AT} IS NOT NULL` })
}

/** A conversation with followed threads that have news, and up to which arrival its replies are read. */
interface Newsy {
  conversation_id: string
  floor: number
  /** The threads with news. */
  threads: number
  /** 1 if threads with news were marked unread since. */
  is_reopened: number
}

/** Whether an entry `r` has news that no mark of the thread has read. */
const IS_AFTER_MARK = sql`r.news_at > r.read_at`

/** The threads of a participant `p` with news that no mark has read. By `followed_news`. */
const AFTER_FLOOR = sql`r.user_id = p.user_id AND r.listed_in = p.conversation_id AND r.listed_at > ${READ_FLOOR}
  AND r.news_at > ${READ_FLOOR} AND ${IS_AFTER_MARK}`

/** Threads that are not read by the mark of the conversation although they arrived before it. By `reopened_threads`. */
const REOPENED = sql`r.user_id = p.user_id AND r.reopened_in = p.conversation_id
  AND r.reopened_at > p.replies_read_at AND r.reopened_at > 0 AND r.news_at <= p.replies_read_to
  AND r.news_at > p.joined_at AND ${IS_AFTER_MARK}`

/**
 * The conversations of a user with followed threads that have news. Their number is stored; where an older process has
 * changed what it counts, the threads are counted.
 */
export async function countNews(db: Queries, userId: string): Promise<Newsy[]> {
  return db.all<Newsy>(
    sql`WITH news AS MATERIALIZED (
      SELECT p.conversation_id, ${READ_FLOOR} AS floor, CASE WHEN ${IS_COUNTED} THEN p.followed_threads
             ELSE (SELECT count(*) FROM thread_members r WHERE ${AFTER_FLOOR})
                + (SELECT count(*) FROM thread_members r WHERE ${REOPENED}) END AS threads,
             CASE WHEN EXISTS (SELECT 1 FROM thread_members r WHERE ${REOPENED}) THEN 1 ELSE 0 END AS is_reopened
        FROM participants p JOIN conversations c ON c.id = p.conversation_id AND c.deleted_at IS NULL
       WHERE p.user_id = ${userId})
     SELECT conversation_id, floor, threads, is_reopened FROM news WHERE threads > 0`,
  )
}

/** Whether the thread has an unread live reply since the user follows it. By (root_id, created_at, posted_by). */
const IS_NEWS = sql`EXISTS (SELECT 1 FROM messages m
  WHERE m.root_id = t.root_id AND m.created_at > t.created_at AND m.created_at > ${SEEN_TO}
    AND m.created_at >= ${FOLLOWED_SINCE} AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> p.user_id
    AND NOT ${isErasedAuthor(sql`m.posted_by`)})`

/** As {@link listFollowed}, only threads with news. Costs as these conversations and the page. By `followed_news`. */
export function listNews(
  db: Queries,
  user_id: string,
  news: readonly Newsy[],
  { after, limit }: Page,
): Promise<Place[]> {
  const latest = (rows: Sql, place: Place, size: number) =>
    sql`SELECT * FROM (SELECT r.listed_at AS at, r.root_id AS id ${rows} AND ${isAfter(place)}
         ORDER BY r.listed_at DESC LIMIT ${literal(size)}) AS part`
  const readPart: ReadPart = async (place, size) => {
    const parts = news.map(({ conversation_id, floor }) =>
      latest(
        sql`FROM thread_members r WHERE r.user_id = ${user_id} AND r.listed_in = ${conversation_id}
              AND r.listed_at > ${floor} AND r.news_at > ${floor} AND ${IS_AFTER_MARK}`,
        place,
        size,
      ),
    )
    if (news.some(({ is_reopened }) => is_reopened === 1))
      parts.push(
        latest(sql`FROM participants p JOIN thread_members r ON ${REOPENED} WHERE p.user_id = ${user_id}`, place, size),
      )
    const entries: Place[] = []
    for (let n = 0; n < parts.length; n += CONVERSATIONS_AT_ONCE) {
      const some = parts.slice(n, n + CONVERSATIONS_AT_ONCE)
      const rows = await db.all<Place>(
        sql`SELECT * FROM (${join(some, ' UNION ALL ')}) AS latest ORDER BY at DESC, id DESC LIMIT ${literal(size)}`,
      )
      entries.push(...rows)
    }
    return entries.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)).slice(0, size)
  }
  return listVisible(db, readPart, { user_id, after, limit, condition: IS_NEWS })
}
