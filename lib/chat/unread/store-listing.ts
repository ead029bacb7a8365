import type { Queries } from '../../storage/database.ts'
import { onRows, together } from '../../storage/on-rows.ts'
import { IS_UNLISTED } from '../../storage/schema/0055-followed-threads.ts'
import { among, type Micros, type Sql, sql } from '../../storage/sql.ts'
import { FOLLOWED_SINCE, relist, WANTS_NO_FOLLOWING } from '../../storage/unread-set.ts'

/** The new replies of a thread. */
export interface NewReplies {
  root_id: string
  conversation_id: string
  /** 1 if the thread had no reply before. */
  is_first: number
  is_direct: number
  /** The arrival of the latest one, and its author. */
  at: Micros
  by: string
  /** The arrival of the latest one of another author, if there is any. */
  other_at: Micros | null
}

const COLUMNS = {
  root_id: 'text',
  conversation_id: 'text',
  is_first: 'bigint',
  is_direct: 'bigint',
  at: 'bigint',
  by: 'text',
  other_at: 'bigint',
} as const

/**
 * Whether a member `r` of a thread with new replies follows it. Most rows tell that themselves. A subquery of one value,
 * as PostgreSQL would join all participants of the conversation.
 */
const FOLLOWS = sql`(SELECT CASE
    WHEN r.followed_at > p.joined_at OR r.listed_at > p.joined_at THEN 1
    WHEN ${WANTS_NO_FOLLOWING} THEN 0
    WHEN given.is_direct = 1 AND t.created_at > p.joined_at THEN 1
    WHEN r.live_count > 0 AND ${FOLLOWED_SINCE} IS NOT NULL THEN 1
    ELSE 0 END
   FROM participants p WHERE p.conversation_id = given.conversation_id AND p.user_id = r.user_id)`

const listReply = (given: Sql, condition: Sql) => sql`UPDATE thread_members AS r
     SET listed_in = given.conversation_id, listed_at = given.at,
         news_at = CASE WHEN r.user_id <> given.by THEN given.at
                        WHEN given.other_at >= coalesce(r.followed_at, 0) THEN given.other_at
                        WHEN r.news_at >= coalesce(r.followed_at, 0) THEN r.news_at END
    FROM ${given} JOIN threads t ON t.root_id = given.root_id
   WHERE r.root_id = given.root_id AND ${condition} AND ${FOLLOWS} = 1`

/** The lists of different members. */
const listAll = together<{
  first: NewReplies[]
  later: NewReplies[]
  joined: (NewReplies & { user_id: string })[]
}>({
  first: onRows(COLUMNS, (given) => listReply(given, sql`true`)),
  later: onRows(COLUMNS, (given) => listReply(given, sql`r.listed_at IS NOT NULL`)),
  joined: onRows({ ...COLUMNS, user_id: 'text' }, (given) =>
    listReply(given, sql`r.user_id = given.user_id AND r.listed_at IS NULL`),
  ),
})

const LIST_FOR_ALL = onRows<{ root_id: string }>({ root_id: 'text' }, (given) =>
  relist(sql`${given} JOIN threads t ON t.root_id = given.root_id JOIN thread_members r ON r.root_id = t.root_id`),
)

const LIST_FOR_ONE = onRows<{ root_id: string; user_id: string }>({ root_id: 'text', user_id: 'text' }, (given) =>
  relist(sql`${given} JOIN threads t ON t.root_id = given.root_id
             JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = given.user_id`),
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
 * Puts threads with new replies into the lists of those who follow them. Costs as these; at the first reply, as the members.
 * In direct conversations users follow without a row: they get one. A deferred call sends all before the commit.
 *
 * @param joined the members who follow only since one of the replies
 */
export async function listReplies(
  tx: Queries,
  replies: readonly NewReplies[],
  joined: readonly { root_id: string; user_id: string }[],
): Promise<void> {
  const first = replies.filter(({ is_first }) => is_first === 1)
  const later = replies.filter(({ is_first }) => is_first === 0)
  const laterBy = new Map(later.map((reply) => [reply.root_id, reply]))
  const members = joined.flatMap(({ root_id, user_id }) => {
    const reply = laterBy.get(root_id)
    return reply ? { ...reply, user_id } : []
  })
  const direct = first.filter(({ is_direct }) => is_direct === 1)
  await Promise.all([ADD_TO_DIRECT.run(tx, direct), listAll(tx, { first, later, joined: members })])
}

/** Puts threads into the lists of those who follow them, after a change of older replies. Costs as their members. */
export async function listThreads(tx: Queries, rootIds: Iterable<string>): Promise<void> {
  await LIST_FOR_ALL.run(tx, toRows(rootIds))
}

/** As {@link listThreads}, with the members whose rows {@link listReplies} adds. */
export async function listDirectThreads(tx: Queries, rootIds: string[]): Promise<void> {
  await ADD_TO_DIRECT.run(tx, toRows(rootIds))
  await listThreads(tx, rootIds)
}

/** Puts threads into the lists of these members of theirs, or takes them out, after a change of the following. By primary keys. */
export async function listThreadsFor(tx: Queries, members: readonly { root_id: string; user_id: string }[]) {
  await LIST_FOR_ONE.run(tx, members)
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
  await listDirectThreads(tx, ids)
  await tx.run(sql`UPDATE threads SET listed_to = last_activity_at WHERE root_id ${among(tx, ids)}`)
}
