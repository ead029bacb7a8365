import type { Queries } from '../../storage/database.ts'
import { assignments, type Micros, type Sql, sql } from '../../storage/sql.ts'
import { addSeen } from '../../storage/unread-counts.ts'
import { type Reader, ROOT_IS_UNREAD } from '../../storage/unread-set.ts'
import type { ThreadReader } from './store.ts'

/** A mark of a conversation: up to an arrival, or from one on. */
export interface ConversationMark {
  /** The arrival of the message. */
  at: Micros
  /** When it is marked, an instant of the conversation. */
  marked_at: Micros
}

/** The arrival of the newest message of a conversation. By (conversation_id, last_activity_at). */
export async function findNewest(db: Queries, conversationId: string): Promise<Micros | undefined> {
  const row = await db.get<{ at: Micros | null }>(
    sql`SELECT max(last_activity_at) AS at FROM threads WHERE conversation_id = ${conversationId}`,
  )
  return row?.at ?? undefined
}

/** The arrivals of a message of a conversation and of its root. By primary keys. */
export function findArrivals(db: Queries, conversationId: string, messageId: string) {
  return db.get<{ at: Micros; root_at: Micros }>(
    sql`SELECT m.created_at AS at, t.created_at AS root_at FROM messages m JOIN threads t ON t.root_id = m.root_id
      WHERE m.id = ${messageId} AND m.conversation_id = ${conversationId}`,
  )
}

/**
 * Marks all roots as read that arrived up to one. Costs as the roots that become read.
 *
 * @returns false if they were read
 */
export async function readRoots(tx: Queries, reader: ThreadReader, mark: ConversationMark): Promise<boolean> {
  const roots = await countRoots(
    tx,
    reader,
    sql`${rootsAfter(reader, reader.roots_read_to)} AND created_at <= ${mark.at} ${marked(reader)}`,
    sql`t.created_at <= ${mark.at} AND ${ROOT_IS_UNREAD}`,
  )
  if (roots.total === 0) return false
  await setRootsRead(tx, reader, mark)
  await addSeen(tx, reader, { roots: roots.live })
  return true
}

/**
 * Marks all roots of others as unread that arrived at an instant or later, after the reader joined. Costs as these roots.
 *
 * @returns false if they were unread
 */
export async function unreadRootsFrom(tx: Queries, reader: ThreadReader, mark: ConversationMark): Promise<boolean> {
  const { user_id, conversation_id } = reader
  const { at, marked_at } = mark
  const roots = await countRoots(tx, reader, rootsAfter(reader, at - 1), sql`NOT ${ROOT_IS_UNREAD}`)
  if (roots.total === 0) return false
  await tx.run(
    sql`UPDATE thread_members SET root_unread_at = ${marked_at}, reopened_in = marked_in
      WHERE user_id = ${user_id} AND marked_in = ${conversation_id} AND read_at >= ${at}
        AND EXISTS (SELECT 1 FROM threads t WHERE t.root_id = thread_members.root_id AND t.created_at >= ${at})`,
  )
  await tx.run(sql`UPDATE participants SET roots_read_to = ${Math.min(reader.roots_read_to, at - 1)} ${whose(reader)}`)
  await addSeen(tx, reader, { roots: -roots.live })
  return true
}

/** Marks all messages as read that arrived up to one, without counting them. @returns how far the reader has read then */
export async function setAllRead(tx: Queries, reader: ThreadReader, mark: ConversationMark): Promise<ThreadReader> {
  const isRaised = mark.at >= reader.replies_read_to
  const replies = { replies_read_to: mark.at, replies_read_at: mark.marked_at }
  if (isRaised) await tx.run(sql`UPDATE participants SET ${assignments(replies)} ${whose(reader)}`)
  else await closeReopened(tx, reader, mark.at)
  return { ...reader, ...(isRaised && replies), ...(await setRootsRead(tx, reader, mark)) }
}

/** Moves the markers of threads that were marked unread below an earlier mark, which stays, forward to `at`. */
async function closeReopened(tx: Queries, reader: ThreadReader, at: Micros): Promise<void> {
  await tx.run(
    sql`UPDATE thread_members AS r
        SET read_at = e.at, marked_in = reopened_in,
            read_count = (SELECT count(*) FROM messages m
              WHERE m.root_id = r.root_id AND m.created_at <= e.at AND m.deleted_at IS NULL
                AND coalesce(m.posted_by, '') <> r.user_id)
       FROM (SELECT x.root_id,
                    (SELECT max(m.created_at) FROM messages m WHERE m.root_id = x.root_id AND m.created_at <= ${at}) AS at
               FROM thread_members x
              WHERE x.user_id = ${reader.user_id} AND x.reopened_in = ${reader.conversation_id}
                AND x.reopened_at > ${reader.replies_read_at} AND x.reopened_at > 0 AND x.read_at < ${at}) AS e
      WHERE r.root_id = e.root_id AND r.user_id = ${reader.user_id} AND e.at > r.read_at`,
  )
}

/** Sets how far the roots are read. Up to the newest message, that writes no row of a thread. */
async function setRootsRead(tx: Queries, reader: ThreadReader, { at, marked_at }: ConversationMark) {
  const { user_id, conversation_id, roots_read_to, roots_read_at } = reader
  const isNewest = at >= ((await findNewest(tx, conversation_id)) ?? 0)
  if (!isNewest)
    await tx.run(
      sql`UPDATE thread_members SET root_unread_at = 0
        WHERE user_id = ${user_id} AND reopened_in = ${conversation_id} AND root_unread_at > ${roots_read_at}
          AND root_unread_at > 0
          AND EXISTS (SELECT 1 FROM threads t WHERE t.root_id = thread_members.root_id AND t.created_at <= ${at})`,
    )
  const roots = { roots_read_to: Math.max(roots_read_to, at), roots_read_at: isNewest ? marked_at : roots_read_at }
  await tx.run(sql`UPDATE participants SET ${assignments(roots)} ${whose(reader)}`)
  return roots
}

const whose = ({ conversation_id, user_id }: Reader) =>
  sql`WHERE conversation_id = ${conversation_id} AND user_id = ${user_id}`

/** The roots that arrived after an instant, and after the reader joined. By `roots_by_arrival`. */
const rootsAfter = ({ conversation_id, joined_at }: ThreadReader, after: Micros) =>
  sql`SELECT id FROM messages
       WHERE conversation_id = ${conversation_id} AND parent_id IS NULL AND created_at > ${Math.max(joined_at, after)}`

/** With the roots that were marked unread since. By `unread_roots`. */
const marked = ({ user_id, conversation_id, roots_read_at }: ThreadReader) =>
  sql`UNION SELECT root_id FROM thread_members
       WHERE user_id = ${user_id} AND reopened_in = ${conversation_id} AND root_unread_at > ${roots_read_at}
         AND root_unread_at > 0`

/** The number of these roots of others that meet a condition, and of those that are not deleted. */
async function countRoots(
  tx: Queries,
  { conversation_id, user_id }: Reader,
  ids: Sql,
  condition: Sql,
): Promise<{ total: number; live: number }> {
  const row = await tx.get<{ total: number; live: number }>(
    sql`SELECT count(*) AS total, CAST(coalesce(sum(CASE WHEN m.deleted_at IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT) AS live
       FROM (${ids}) AS roots
      CROSS JOIN participants p
       JOIN threads t ON t.root_id = roots.id
       JOIN messages m ON m.id = roots.id
       LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
      WHERE p.conversation_id = ${conversation_id} AND p.user_id = ${user_id}
        AND coalesce(m.posted_by, '') <> p.user_id AND ${condition}`,
  )
  return row!
}
