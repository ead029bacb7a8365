import type { ParticipantRow, ReadFloors } from '../chat/memberships/store.ts'
import type { Queries } from '../storage/database.ts'
import { onRows } from '../storage/on-rows.ts'
import { RECENT_REPLIERS } from '../storage/reply-state.ts'
import { REPLIERS_AS_OF } from '../storage/schema/0058-last-repliers.ts'
import { among, assignments, type Micros, sql } from '../storage/sql.ts'
import {
  FOLLOWED_THREADS,
  FOLLOWED_UNREAD,
  READ_FLOORS,
  relist,
  SEEN_COUNT,
  SEEN_ROOTS,
} from '../storage/unread-set.ts'
import type { Marks } from './rules.ts'
import type { Merge } from './store.ts'

/** A participation of one of the two users. */
export interface Participation extends ReadFloors, Pick<ParticipantRow, 'user_id' | 'role'> {
  conversation_id: string
}

/** The participations of both users in these conversations. By primary key. */
export function listParticipations(tx: Queries, { from_id, into_id }: Merge, conversationIds: string[]) {
  return tx.all<Participation>(
    sql`SELECT p.conversation_id, p.user_id, p.role, ${READ_FLOORS} FROM participants p
      WHERE p.conversation_id ${among(tx, conversationIds)} AND p.user_id ${among(tx, [from_id, into_id])}`,
  )
}

/** Gives a participation another user, or adds it to that user's own. */
export async function moveParticipation(
  tx: Queries,
  { from_id, into_id }: Merge,
  conversationId: string,
  merged: (ReadFloors & Pick<ParticipantRow, 'role'>) | undefined,
): Promise<void> {
  const own = (userId: string) => sql`conversation_id = ${conversationId} AND user_id = ${userId}`
  if (!merged) {
    await tx.run(sql`UPDATE participants SET user_id = ${into_id} WHERE ${own(from_id)}`)
    return
  }
  await tx.run(sql`DELETE FROM participants WHERE ${own(from_id)}`)
  await tx.run(sql`UPDATE conversations SET participant_count = participant_count - 1 WHERE id = ${conversationId}`)
  const { role, joined_at, replies_read_to, roots_read_to, replies_read_at, roots_read_at } = merged
  const floors = { joined_at, replies_read_to, roots_read_to, replies_read_at, roots_read_at }
  await tx.run(sql`UPDATE participants SET ${assignments({ role, ...floors })} WHERE ${own(into_id)}`)
}

/** Notes that a user was a participant where another one was. By user_id. */
export async function moveFormer(tx: Queries, { from_id, into_id }: Merge): Promise<void> {
  await tx.run(
    sql`INSERT INTO former_participants (user_id, conversation_id)
     SELECT CAST(${into_id} AS TEXT), conversation_id FROM former_participants WHERE user_id = ${from_id}
     ON CONFLICT DO NOTHING`,
  )
  await tx.run(sql`DELETE FROM former_participants WHERE user_id = ${from_id}`)
}

/** The rows of both users among the members of a thread: those of `into` have `own_` before their names. */
export interface MemberPair extends Listed, Nullable<Marks & { live_count: number }> {
  root_id: string
  conversation_id: string
  created_at: Micros
  /** Whether `into` has written the root, or `from`: its messages are moved before. */
  is_author: number
  is_member: number
  is_own_member: number
  own_read_at: Micros | null
  own_reopened_at: Micros | null
  own_root_unread_at: Micros | null
  own_followed_at: Micros | null
  own_live_count: number | null
}

interface Listed {
  listed_in: string | null
  listed_at: Micros | null
  news_at: Micros | null
}

type Nullable<T> = { [K in keyof T]: T[K] | null }

/**
 * The threads of these conversations in which the one user is a member, or the other one has put messages back that the one
 * may have read. By the threads of the conversations.
 */
export function listMemberPairs(tx: Queries, { from_id, into_id }: Merge, conversationIds: string[]) {
  return tx.all<MemberPair>(
    sql`SELECT t.root_id, t.conversation_id, t.created_at,
          (SELECT count(*) FROM messages m WHERE m.id = t.root_id AND m.posted_by = ${into_id}) AS is_author,
          CASE WHEN f.user_id IS NULL THEN 0 ELSE 1 END AS is_member,
          CASE WHEN i.user_id IS NULL THEN 0 ELSE 1 END AS is_own_member,
          f.live_count, f.read_at, f.reopened_at, f.root_unread_at, f.followed_at,
          i.live_count AS own_live_count, i.read_at AS own_read_at, i.reopened_at AS own_reopened_at,
          i.root_unread_at AS own_root_unread_at, i.followed_at AS own_followed_at,
          coalesce(i.listed_in, f.listed_in) AS listed_in, coalesce(i.listed_at, f.listed_at) AS listed_at,
          coalesce(i.news_at, f.news_at) AS news_at
       FROM threads t
       LEFT JOIN thread_members f ON f.root_id = t.root_id AND f.user_id = ${from_id}
       LEFT JOIN thread_members i ON i.root_id = t.root_id AND i.user_id = ${into_id}
      WHERE t.conversation_id ${among(tx, conversationIds)}
        AND (f.user_id IS NOT NULL OR i.reopened_at > 0 OR i.root_unread_at > 0)`,
  )
}

/** A member of a thread, as it is stored; what the member has read is counted by {@link countRead}. */
export interface MemberRow extends Marks, Listed {
  root_id: string
  user_id: string
  live_count: number
  marked_in: string | null
  reopened_in: string | null
}

const PUT = onRows<MemberRow>(
  {
    root_id: 'text',
    user_id: 'text',
    live_count: 'bigint',
    read_at: 'bigint',
    marked_in: 'text',
    reopened_at: 'bigint',
    root_unread_at: 'bigint',
    reopened_in: 'text',
    followed_at: 'bigint',
    listed_in: 'text',
    listed_at: 'bigint',
    news_at: 'bigint',
  },
  (given) =>
    sql`INSERT INTO thread_members (root_id, user_id, live_count, read_at, read_count, marked_in, reopened_at,
                                    root_unread_at, reopened_in, followed_at, listed_in, listed_at, news_at)
     SELECT root_id, user_id, live_count, read_at, 0, marked_in, reopened_at, root_unread_at, reopened_in, followed_at,
            listed_in, listed_at, news_at FROM ${given} WHERE true
     ON CONFLICT (root_id, user_id) DO UPDATE
        SET live_count = excluded.live_count, read_at = excluded.read_at, read_count = excluded.read_count,
            marked_in = excluded.marked_in, reopened_at = excluded.reopened_at,
            root_unread_at = excluded.root_unread_at, reopened_in = excluded.reopened_in,
            followed_at = excluded.followed_at, listed_in = excluded.listed_in, listed_at = excluded.listed_at,
            news_at = excluded.news_at`,
)

/** Replaces the rows of both users by one, and counts what it has read. By primary key. */
export async function putMembers(tx: Queries, { from_id, into_id }: Merge, rows: readonly MemberRow[]): Promise<void> {
  const rootIds = rows.map(({ root_id }) => root_id)
  await tx.run(sql`DELETE FROM thread_members WHERE root_id ${among(tx, rootIds)} AND user_id = ${from_id}`)
  await PUT.run(tx, rows)
  await tx.run(
    sql`UPDATE thread_members SET read_count = (SELECT count(*) FROM messages m
          WHERE m.root_id = thread_members.root_id AND m.created_at <= thread_members.read_at
            AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> thread_members.user_id)
      WHERE root_id ${among(tx, rootIds)} AND user_id = ${into_id} AND read_at > 0`,
  )
}

/** The arrival of the latest message of a thread up to an instant; 0 without one. By `messages_by_arrival`. */
export async function findArrivalUpTo(tx: Queries, rootId: string, at: Micros): Promise<Micros> {
  const row = await tx.get<{ at: Micros }>(
    sql`SELECT coalesce(max(created_at), 0) AS at FROM messages WHERE root_id = ${rootId} AND created_at <= ${at}`,
  )
  return row!.at
}

/** Counts two authors of these threads as one. By primary key. */
export async function countOneAuthorLess(tx: Queries, rootIds: string[]): Promise<void> {
  await tx.run(sql`UPDATE threads SET participant_count = participant_count - 1 WHERE root_id ${among(tx, rootIds)}`)
}

/** Stores who replied last in these threads, whose authors have changed. By primary key. */
export async function relistAllRepliers(tx: Queries, rootIds: string[]): Promise<void> {
  await tx.run(
    sql`UPDATE threads AS t SET last_repliers = ${RECENT_REPLIERS}, repliers_as_of = ${REPLIERS_AS_OF}
      WHERE t.root_id ${among(tx, rootIds)} AND t.last_activity_at > t.created_at`,
  )
}

/**
 * Counts anew what a participant has read in these conversations, and lists the followed threads; without a user, what all
 * participants have. Costs as the threads since joining.
 */
export async function recount(tx: Queries, conversationIds: string[], userId?: string): Promise<void> {
  const these = among(tx, conversationIds)
  const member = userId === undefined ? sql`` : sql`AND r.user_id = ${userId}`
  await tx.run(
    relist(
      sql`threads t JOIN thread_members r ON r.root_id = t.root_id AND t.listed_to = t.last_activity_at
            AND t.conversation_id ${these} ${member}`,
    ),
  )
  const reader = userId === undefined ? sql`` : sql`AND p.user_id = ${userId}`
  await tx.run(
    sql`UPDATE participants AS p SET seen_count = ${SEEN_COUNT}, seen_roots = ${SEEN_ROOTS},
            seen_replies = ${SEEN_COUNT} - ${SEEN_ROOTS}, followed_unread = ${FOLLOWED_UNREAD},
            followed_threads = ${FOLLOWED_THREADS}
      WHERE p.conversation_id ${these} ${reader}`,
  )
}
