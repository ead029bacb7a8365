import type { Queries } from '../../storage/database.ts'
import { type Columns, onRows, together } from '../../storage/on-rows.ts'
import { IS_UNLISTED } from '../../storage/schema/0055-followed-threads.ts'
import { among, type Micros, type Sql, sql } from '../../storage/sql.ts'
import { countRelisted, FOLLOWED_SINCE, MAY_FOLLOW, relist, SEEN_TO } from '../../storage/unread-set.ts'

/** A reply that is stored. */
export interface NewReply {
  root_id: string
  conversation_id: string
  /** 1 if the thread had no reply before. */
  is_first: number
  is_direct: number
  at: Micros
  /** Its author. */
  by: string
}

/**
 * The table `news` of a statement about new replies: what the lists and the counts of those get who follow their threads by
 * then. A user is looked up once for all replies of a thread. The author of the root has no time of following, nor have users of
 * a direct conversation, and authors of messages of an older process. By `followers_of_thread`, and primary keys.
 */
function withNews(given: Sql, dialect: Queries['dialect']): Sql {
  // Otherwise PostgreSQL evaluates them several times, and joins all participants of the conversation.
  const once = dialect === 'sqlite' ? sql`` : sql`MATERIALIZED`
  return sql`WITH replies AS ${once} (SELECT given.* FROM ${given}),
    places AS ${once} (SELECT DISTINCT root_id, conversation_id, is_direct FROM replies),
    members AS ${once} (
      SELECT places.*, f.user_id FROM places CROSS JOIN thread_members f WHERE f.root_id = places.root_id AND ${MAY_FOLLOW}
       UNION
      SELECT places.*, root.posted_by FROM places CROSS JOIN messages root WHERE root.id = places.root_id
       UNION
      SELECT places.*, p.user_id FROM places CROSS JOIN participants p
       WHERE places.is_direct = 1 AND p.conversation_id = places.conversation_id),
    followers AS MATERIALIZED (
      SELECT members.*, r.news_at, ${FOLLOWED_SINCE} AS since, ${SEEN_TO} AS seen_to
        FROM members CROSS JOIN threads t CROSS JOIN participants p CROSS JOIN thread_members r
       WHERE t.root_id = members.root_id AND p.conversation_id = members.conversation_id AND p.user_id = members.user_id
         AND r.root_id = members.root_id AND r.user_id = members.user_id),
    news AS ${once} (
      SELECT follower.root_id, follower.conversation_id, follower.user_id, follower.news_at, follower.since, follower.seen_to, max(replies.at) AS listed_at,
             max(CASE WHEN replies.by <> follower.user_id AND replies.at >= follower.since THEN replies.at END) AS arrived_at,
             sum(CASE WHEN replies.by <> follower.user_id AND replies.at >= follower.since THEN 1 - follower.is_direct ELSE 0 END) AS total
        FROM followers follower JOIN replies ON replies.root_id = follower.root_id
       WHERE follower.since IS NOT NULL
       GROUP BY follower.root_id, follower.conversation_id, follower.user_id, follower.news_at, follower.since, follower.seen_to)`
}

/** Counts replies of others as unread, and the threads that had no news. In direct conversations only these are counted. */
const COUNT_NEWS = sql`UPDATE participants SET followed_unread = participants.followed_unread + more.total,
         followed_threads = participants.followed_threads + more.threads
    FROM (SELECT conversation_id, user_id, sum(total) AS total,
                 sum(CASE WHEN news_at > seen_to THEN 0 ELSE 1 END) AS threads
            FROM news WHERE arrived_at IS NOT NULL GROUP BY conversation_id, user_id) AS more
   WHERE participants.conversation_id = more.conversation_id AND participants.user_id = more.user_id`

const LIST_NEWS = sql`UPDATE thread_members SET listed_in = news.conversation_id, listed_at = news.listed_at,
         news_at = coalesce(news.arrived_at, CASE WHEN news.news_at >= news.since THEN news.news_at END)
    FROM news WHERE thread_members.root_id = news.root_id AND thread_members.user_id = news.user_id`

const COLUMNS = { root_id: 'text', conversation_id: 'text', is_direct: 'bigint', at: 'bigint', by: 'text' } as const

type ListedReply = Omit<NewReply, 'is_first'>

/** SQLite changes one table by a statement: it counts first, as the lists tell which threads had news. */
const COUNT_ON_SQLITE = onRows<ListedReply>(
  COLUMNS,
  (given, dialect) => sql`${withNews(given, dialect)} ${COUNT_NEWS}`,
  {
    joint: true,
  },
)
const LIST = onRows<ListedReply>(
  COLUMNS,
  (given, dialect) =>
    sql`${withNews(given, dialect)}${dialect === 'sqlite' ? sql`` : sql`, counted AS (${COUNT_NEWS})`} ${LIST_NEWS}`,
  { joint: true },
)

/** Makes lists right, and the counts of what they change. @param members joins rows `r` of members */
function relisting<Row extends { [Name in keyof Row]: string }>(columns: Columns<Row>, members: Sql) {
  const from = (given: Sql) => sql`${given} JOIN threads t ON t.root_id = given.root_id ${members}`
  const relisted = together<{ counted: Row[]; listed: Row[] }>({
    counted: onRows(columns, (given) => countRelisted(from(given))),
    listed: onRows(columns, (given) => relist(from(given))),
  })
  return (tx: Queries, rows: readonly Row[]) => relisted(tx, { counted: [...rows], listed: [...rows] })
}

const listForAll = relisting<{ root_id: string }>(
  { root_id: 'text' },
  sql`JOIN thread_members r ON r.root_id = t.root_id`,
)

/**
 * No other member begins or ends to follow where a reply is deleted, restored or erased. The empty text is that SQLite does not
 * begin with all members.
 */
const listForFollowers = relisting<{ root_id: string }>(
  { root_id: 'text' },
  sql`JOIN thread_members f ON f.root_id = t.root_id AND ${MAY_FOLLOW}
      JOIN thread_members r ON r.root_id = f.root_id || '' AND r.user_id = f.user_id`,
)

const listForOne = relisting<{ root_id: string; user_id: string }>(
  { root_id: 'text', user_id: 'text' },
  sql`JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = given.user_id`,
)

const ADD_TO_DIRECT = onRows<{ root_id: string }>(
  { root_id: 'text' },
  (given) =>
    sql`INSERT INTO thread_members (root_id, user_id)
     SELECT t.root_id, p.user_id
       FROM ${given} JOIN threads t ON t.root_id = given.root_id
       JOIN conversations c ON c.id = t.conversation_id AND c.is_direct = 1
       JOIN participants p ON p.conversation_id = c.id
      WHERE t.last_activity_at > t.created_at
     ON CONFLICT DO NOTHING`,
)

/**
 * Puts threads with new replies into the lists of those who follow them, and counts the replies as unread for these. Costs as
 * these. In direct conversations users follow without a row: they get one. A deferred call sends all before the commit.
 */
export async function listReplies(tx: Queries, replies: readonly NewReply[]): Promise<void> {
  const isFirst = ({ is_first, is_direct }: NewReply) => is_first === 1 && is_direct === 1
  const rows = replies.map(({ is_first: _, ...reply }) => reply)
  await Promise.all([
    ADD_TO_DIRECT.run(tx, replies.filter(isFirst)),
    tx.dialect === 'sqlite' && COUNT_ON_SQLITE.run(tx, rows),
    LIST.run(tx, rows),
  ])
}

/** Puts threads into the lists of those who follow them, after a change of older replies. Costs as their followers. */
export async function listThreads(tx: Queries, rootIds: Iterable<string>): Promise<void> {
  await listForFollowers(tx, toRows(rootIds))
}

/** As {@link listThreads}, of threads that are in no list, with the members whose rows {@link listReplies} adds. Costs as the members. */
export async function listAnew(tx: Queries, rootIds: string[]): Promise<void> {
  await ADD_TO_DIRECT.run(tx, toRows(rootIds))
  await listForAll(tx, toRows(rootIds))
}

/** Puts threads into the lists of these members of theirs, or takes them out, after a change of the following. By primary keys. */
export async function listThreadsFor(tx: Queries, members: readonly { root_id: string; user_id: string }[]) {
  await listForOne(tx, members)
}

const toRows = (rootIds: Iterable<string>) => Array.from(rootIds, (root_id) => ({ root_id }))

/** A conversation with threads that are not in the lists of those who follow them. By `unlisted_threads`. */
export async function findUnlisted(db: Queries): Promise<string | undefined> {
  const row = await db.get<{ conversation_id: string }>(
    sql`SELECT conversation_id FROM threads WHERE ${IS_UNLISTED} ORDER BY conversation_id LIMIT 1`,
  )
  return row?.conversation_id
}

/** Puts up to `limit` such threads of a conversation, which is locked, into the lists, and notes that. By `unlisted_threads`. */
export async function listUnlisted(tx: Queries, conversationId: string, limit: number): Promise<void> {
  const rows = await tx.all<{ root_id: string }>(
    sql`SELECT root_id FROM threads WHERE conversation_id = ${conversationId} AND ${IS_UNLISTED} LIMIT ${limit}`,
  )
  const ids = rows.map(({ root_id }) => root_id)
  await listAnew(tx, ids)
  await tx.run(sql`UPDATE threads SET listed_to = last_activity_at WHERE root_id ${among(tx, ids)}`)
}
