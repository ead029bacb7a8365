import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { type Micros, sql } from '../../storage/sql.ts'
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
      WHERE ${FOLLOWED_SINCE} IS NULL AND NOT ${WANTS_NO_FOLLOWING}
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
