import type { Queries } from '../../storage/database.ts'
import { type Micros, type Sql, sql } from '../../storage/sql.ts'
import { addSeen, countThread, storeFollowing } from '../../storage/unread-counts.ts'
import { isFollowedUnread, ROOT_IS_UNREAD, SEEN_TO } from '../../storage/unread-set.ts'
import type { MessageRow } from './store.ts'

/** The `user_id` in the counts of messages without an author. */
const NO_AUTHOR = ''

/**
 * Deletes or restores a message by `change`, and updates the counts: those of the thread, of its author, and of all other
 * readers.
 *
 * @param by -1 or 1
 */
export async function recount(
  tx: Queries,
  message: Pick<MessageRow, 'id' | 'conversation_id' | 'root_id' | 'posted_by' | 'created_at'>,
  by: -1 | 1,
  change: () => Promise<void>,
): Promise<void> {
  const author = message.posted_by ?? NO_AUTHOR
  // A message of an older process says since when its author follows the thread.
  const own = { user_id: author, conversation_id: message.conversation_id }
  const before = await countThread(tx, own, message.root_id)
  await change()
  const { live_count } = await addLive(tx, message.root_id, author, by)
  const wrote = live_count - by > 0
  const writes = live_count > 0
  await tx.run(
    sql`UPDATE threads SET message_count = message_count + ${by}, repliers_as_of = repliers_as_of + ${by},
          participant_count = participant_count + ${Number(writes) - Number(wrote)} WHERE root_id = ${message.root_id}`,
  )
  await tx.run(
    sql`UPDATE thread_members SET read_count = read_count + ${by} WHERE root_id = ${message.root_id}
          AND read_at >= ${message.created_at} AND user_id <> ${author}`,
  )
  await shiftSeen(tx, message, { author, messages: [message], by })
  if (by === 1) await storeFollowing(tx, own, message.root_id)
  const after = await countThread(tx, own, message.root_id)
  if (after.followed !== before.followed) await addSeen(tx, own, { followed: before.followed - after.followed })
}

/**
 * Subtracts messages that are erased with their author from the counts: those of the thread, of the author, and of all
 * other readers whose mark is at or after one of them.
 *
 * @param messages those that were not deleted before
 */
export async function countOut(
  tx: Queries,
  thread: { root_id: string; conversation_id: string },
  author: string,
  messages: readonly Arrived[],
): Promise<void> {
  const { root_id: rootId } = thread
  const arrivals = messages.map(({ created_at }) => created_at)
  const { live_count } = await addLive(tx, rootId, author, -arrivals.length)
  await tx.run(
    sql`UPDATE threads SET message_count = message_count - ${arrivals.length},
          repliers_as_of = repliers_as_of - ${arrivals.length},
          participant_count = participant_count - ${live_count === 0 ? 1 : 0} WHERE root_id = ${rootId}`,
  )
  const { earliest, latest } = boundsOf(arrivals)
  await tx.run(
    sql`UPDATE thread_members
        SET read_count = read_count - CASE WHEN read_at >= ${latest} THEN ${arrivals.length}
                                           ELSE ${arrivalsUpTo(tx, arrivals, sql`thread_members.read_at`)} END
      WHERE root_id = ${rootId} AND read_at >= ${earliest} AND user_id <> ${author}`,
  )
  await shiftSeen(tx, thread, { author, messages, by: -1 })
}

/** A message of a thread, by its id and its arrival. */
type Arrived = Pick<MessageRow, 'id' | 'created_at'>

/**
 * Changes the number of seen messages of each participant: a message counts as seen for its author, for participants who
 * have read it, and for those who joined after it. For the others it counts as unread, where they follow its thread. By
 * (conversation_id, user_id).
 */
async function shiftSeen(
  tx: Queries,
  { conversation_id, root_id }: { conversation_id: string; root_id: string },
  { author, messages, by }: { author: string; messages: readonly Arrived[]; by: -1 | 1 },
): Promise<void> {
  const replies = messages.filter(({ id }) => id !== root_id).map(({ created_at }) => created_at)
  const ofRoot = sql`CASE WHEN ${ROOT_IS_UNREAD} THEN 0 ELSE 1 END`
  const { latest } = boundsOf(replies)
  const ofReplies = sql`CASE WHEN ${SEEN_TO} >= ${latest} THEN ${replies.length}
       ELSE ${arrivalsUpTo(tx, replies, SEEN_TO)} END`
  const ofFollowed = sql`CASE WHEN ${SEEN_TO} >= ${latest} THEN 0
       ELSE ${arrivalsWhere(tx, replies, isFollowedUnread)} END`
  const roots = messages.length - replies.length
  await tx.run(
    sql`UPDATE participants SET seen_count = seen_count + ${by} * (seen.roots + seen.replies),
            seen_roots = seen_roots + ${by} * seen.roots, seen_replies = seen_replies + ${by} * seen.replies,
            followed_unread = followed_unread + ${by} * seen.followed
       FROM (SELECT p.user_id,
                    CASE WHEN p.user_id = ${author} THEN ${roots} ELSE ${roots > 0 ? ofRoot : sql`0`} END AS roots,
                    CASE WHEN p.user_id = ${author} THEN ${replies.length}
                         ELSE ${replies.length > 0 ? ofReplies : sql`0`} END AS replies,
                    CASE WHEN p.user_id = ${author} THEN 0 ELSE ${replies.length > 0 ? ofFollowed : sql`0`} END AS followed
               FROM participants p JOIN threads t ON t.root_id = ${root_id}
               LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
              WHERE p.conversation_id = ${conversation_id}) AS seen
      WHERE participants.conversation_id = ${conversation_id} AND participants.user_id = seen.user_id
        AND seen.roots + seen.replies + seen.followed > 0`,
  )
}

/** The number of arrivals up to an instant. */
const arrivalsUpTo = (db: Queries, arrivals: Micros[], instant: Sql) =>
  arrivalsWhere(db, arrivals, (arrival) => sql`${arrival} <= ${instant}`)

/** The number of arrivals that meet a condition. */
function arrivalsWhere({ dialect }: Queries, arrivals: Micros[], condition: (arrival: Sql) => Sql): Sql {
  const list = JSON.stringify(arrivals)
  return dialect === 'sqlite'
    ? sql`(SELECT count(*) FROM json_each(${list}) AS list WHERE ${condition(sql`list.value`)})`
    : sql`(SELECT count(*) FROM jsonb_array_elements_text(${list}::jsonb) AS list(value)
           WHERE ${condition(sql`list.value::bigint`)})`
}

function boundsOf(arrivals: Micros[]): { earliest: Micros; latest: Micros } {
  return {
    earliest: arrivals.reduce((earliest, at) => Math.min(earliest, at), Number.MAX_SAFE_INTEGER),
    latest: arrivals.reduce((latest, at) => Math.max(latest, at), 0),
  }
}

/** Moves messages from the count of their author to the count of messages without an author. */
export async function reassignLive(tx: Queries, rootId: string, author: string, count: number): Promise<void> {
  const from = await addLive(tx, rootId, author, -count)
  const to = await addLive(tx, rootId, NO_AUTHOR, count)
  const memberDelta = from.live_count === 0 ? -1 : 0
  const come = to.live_count === count ? 1 : 0
  await tx.run(
    sql`UPDATE threads SET participant_count = participant_count + ${memberDelta + come} WHERE root_id = ${rootId}`,
  )
}

/** Deletes the counts and the mark of a user in a thread, in which the user has no messages left. */
export async function forgetMember(tx: Queries, rootId: string, userId: string): Promise<void> {
  await tx.run(sql`DELETE FROM thread_members WHERE root_id = ${rootId} AND user_id = ${userId}`)
}

/**
 * The threads in which a user has written or read, among the next `limit` threads after one, by id. By primary keys.
 *
 * @returns with `last`, the id to continue after, if more threads may follow
 */
export async function listTraces(
  db: Queries,
  userId: string,
  afterRootId: string,
  limit: number,
): Promise<{ traces: { root_id: string; conversation_id: string }[]; last?: string }> {
  const rows = await db.all<{ root_id: string; conversation_id: string; user_id: string | null }>(
    sql`SELECT t.root_id, t.conversation_id, r.user_id
       FROM (SELECT root_id, conversation_id FROM threads WHERE root_id > ${afterRootId} ORDER BY root_id
       LIMIT ${limit}) t
       LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = ${userId}
      ORDER BY t.root_id`,
  )
  const traces = rows.flatMap(({ root_id, conversation_id, user_id }) => (user_id ? { root_id, conversation_id } : []))
  return { traces, ...(rows.length === limit && { last: rows.at(-1)!.root_id }) }
}

async function addLive(tx: Queries, rootId: string, author: string, by: number): Promise<{ live_count: number }> {
  const row = await tx.get<{ live_count: number }>(
    sql`INSERT INTO thread_members (root_id, user_id, live_count) VALUES (${rootId}, ${author}, ${by})
     ON CONFLICT (root_id, user_id) DO UPDATE SET live_count = thread_members.live_count + excluded.live_count
     RETURNING live_count`,
  )
  return row!
}
