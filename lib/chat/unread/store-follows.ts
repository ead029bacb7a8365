import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { type Micros, type Sql, sql } from '../../storage/sql.ts'
import { FOLLOWED_SINCE, type Reader, threadsOf, WANTS_NO_FOLLOWING } from '../../storage/unread-set.ts'

/** Whether a participant follows a thread, and whether the participant has said not to. By primary keys. */
export async function findFollowing(
  db: Queries,
  reader: Reader,
  rootId: string,
): Promise<{ following: boolean; refused: boolean }> {
  const row = await db.get<{ since: Micros | null; refused: number }>(
    sql`SELECT ${FOLLOWED_SINCE} AS since, CASE WHEN ${WANTS_NO_FOLLOWING} THEN 1 ELSE 0 END AS refused
      ${threadsOf(reader, sql`t.root_id = ${rootId}`)}`,
  )
  return { following: row!.since !== null, refused: row!.refused === 1 }
}

/** Stores since when a user follows a thread, or, as a negative number, since when not. */
export async function setFollowed(tx: Queries, rootId: string, userId: string, at: Micros): Promise<void> {
  await tx.run(
    sql`INSERT INTO thread_members (root_id, user_id, followed_at) VALUES (${rootId}, ${userId}, ${at})
     ON CONFLICT (root_id, user_id) DO UPDATE SET followed_at = excluded.followed_at`,
  )
}

/** A user that a message of a thread mentions, and its arrival. */
export interface MentionedUser {
  root_id: string
  conversation_id: string
  user_id: string
  at: Micros
}

const FOLLOW_MENTIONED = onRows<MentionedUser>(
  { root_id: 'text', conversation_id: 'text', user_id: 'text', at: 'bigint' },
  (given) =>
    sql`INSERT INTO thread_members (root_id, user_id, followed_at)
     SELECT t.root_id, p.user_id, given.at
       FROM ${given}
       JOIN participants p ON p.conversation_id = given.conversation_id AND p.user_id = given.user_id
       JOIN threads t ON t.root_id = given.root_id
       LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
      WHERE given.at > p.joined_at AND ${FOLLOWED_SINCE} IS NULL AND NOT ${WANTS_NO_FOLLOWING}
     ON CONFLICT (root_id, user_id) DO UPDATE SET followed_at = excluded.followed_at
     RETURNING root_id, user_id`,
)

/**
 * Lets users follow the threads in which they are mentioned, from the message on, unless they have said not to. By primary
 * keys.
 *
 * @param users each user and thread once
 * @returns those who did not follow before
 */
export async function followMentioned(tx: Queries, users: readonly MentionedUser[]): Promise<MentionedUser[]> {
  const rows = await FOLLOW_MENTIONED.all<{ root_id: string; user_id: string }>(tx, users)
  const added = new Set(rows.map(({ root_id, user_id }) => `${root_id} ${user_id}`))
  return users.filter(({ root_id, user_id }) => added.has(`${root_id} ${user_id}`))
}

/**
 * Removes from the members of the next `limit` threads of a conversation, by their activity, what a user has of following
 * them from a participation that has ended: since when, the wish not to, and the entry of the list.
 *
 * @returns the activity to continue after, if more threads may follow
 */
export async function clearFollowed(
  tx: Queries,
  { user_id, conversation_id }: Reader,
  { after, limit }: { after: Micros; limit: number },
): Promise<Micros | undefined> {
  const page = sql`SELECT root_id, created_at, last_activity_at, conversation_id FROM threads
     WHERE conversation_id = ${conversation_id} AND last_activity_at > ${after} ORDER BY last_activity_at LIMIT ${limit}`
  await tx.run(
    sql`UPDATE thread_members SET followed_at = NULL, listed_in = NULL, listed_at = NULL, news_at = NULL
       FROM (SELECT r.root_id FROM (${page}) AS t
               JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = ${user_id}
               LEFT JOIN participants p ON p.conversation_id = t.conversation_id AND p.user_id = r.user_id
              WHERE (r.followed_at IS NOT NULL OR r.listed_at IS NOT NULL)
                AND (p.user_id IS NULL OR (${FOLLOWED_SINCE} IS NULL AND NOT ${WANTS_NO_FOLLOWING}))) AS ended
      WHERE thread_members.root_id = ended.root_id AND thread_members.user_id = ${user_id}`,
  )
  return endOf(tx, page, limit)
}

/** The activity of the last thread of a page, if it is full. */
async function endOf(tx: Queries, page: Sql, limit: number): Promise<Micros | undefined> {
  const row = await tx.get<{ last: Micros | null; total: number }>(
    sql`SELECT max(last_activity_at) AS last, count(*) AS total FROM (${page}) AS page`,
  )
  return row!.total === limit ? row!.last! : undefined
}

/**
 * Stores since when authors follow threads by a message of an older process, in the next `limit` threads of a conversation by
 * their activity; not in a direct one, whose users follow them since they began. It changes nothing that is read.
 *
 * @returns the activity to continue after, if more threads may follow
 */
export async function storeFollowed(
  tx: Queries,
  conversationId: string,
  { after, limit }: { after: Micros; limit: number },
): Promise<Micros | undefined> {
  const page = sql`SELECT root_id, last_activity_at FROM threads
     WHERE conversation_id = ${conversationId} AND last_activity_at > ${after} AND last_activity_at > created_at
     ORDER BY last_activity_at LIMIT ${limit}`
  await tx.run(sql`UPDATE thread_members SET followed_at = first.at
     FROM (SELECT x.root_id, x.user_id, (SELECT min(m.created_at) FROM messages m
              WHERE m.root_id = x.root_id AND m.posted_by = x.user_id AND m.deleted_at IS NULL
                AND m.created_at > p.joined_at) AS at
             FROM (${page}) AS page
             JOIN thread_members x ON x.root_id = page.root_id AND x.followed_at IS NULL AND x.live_count > 0
             JOIN messages root ON root.id = x.root_id AND coalesce(root.posted_by, '') <> x.user_id
             JOIN participants p ON p.conversation_id = ${conversationId} AND p.user_id = x.user_id
            WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = ${conversationId} AND c.is_direct = 1)) AS first
    WHERE thread_members.root_id = first.root_id AND thread_members.user_id = first.user_id AND first.at IS NOT NULL`)
  return endOf(tx, page, limit)
}
