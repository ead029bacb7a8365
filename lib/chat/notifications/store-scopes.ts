import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { among, type Micros, type Sql, sql } from '../../storage/sql.ts'
import { IS_COUNTED_APART } from '../../storage/unread-mentions.ts'
import {
  FOLLOWED_SINCE,
  IS_UNREAD,
  MAY_FOLLOW,
  type Reader,
  threadsOf,
  UNREAD_FOLLOWED,
} from '../../storage/unread-set.ts'

/**
 * Notifications that stand for the unread messages of a scope: of kind `direct` for those of a conversation, of kind `reply`
 * for those of a thread. Their number, and whether there is one, follows from what is unread.
 */

/** Whether the user of `n` has a notification of the message `m` itself. */
const HAS_OWN = sql`EXISTS (SELECT 1 FROM notifications o WHERE o.id = m.id AND o.user_id = p.user_id AND o.hidden < 2)`

/** The latest of the messages `m` of a thread for which a notification stands. By (root_id, created_at, posted_by). */
const latestInThread = (condition: Sql, isDeleted = sql`IS NULL`): Sql =>
  sql`(SELECT m.id FROM messages m
        WHERE m.root_id = t.root_id AND m.parent_id IS NOT NULL AND m.deleted_at ${isDeleted} AND ${IS_UNREAD}
          AND m.created_at >= ${FOLLOWED_SINCE} AND ${condition} ORDER BY m.created_at DESC LIMIT 1)`

/** What has no notification of its own, and had arrived when the notification was last moved, comes first. */
const LATEST = sql`coalesce(${latestInThread(sql`m.created_at <= n.at AND NOT ${HAS_OWN}`)},
    ${latestInThread(sql`NOT ${HAS_OWN}`)}, ${latestInThread(sql`1 = 1`)})`

/** A notification by its key. */
export interface NotificationKey {
  user_id: string
  id: string
}

/** An unread notification of a scope, and what it should be. */
export interface Standing extends NotificationKey {
  kind: 'direct' | 'reply'
  at: Micros
  hidden: number
  message_id: string
  count: number
  /** The message to show, if there is one. */
  latest: string | null
  /** A deleted message that would be unread. */
  deleted: string | null
}

const threadRows = (condition: Sql) => sql`
  SELECT n.user_id, n.id, n.kind, n.at, n.hidden, n.message_id, ${UNREAD_FOLLOWED} AS count, ${LATEST} AS latest,
         ${latestInThread(sql`1 = 1`, sql`IS NOT NULL`)} AS deleted
    FROM notifications n JOIN threads t ON t.root_id = n.scope_id
    JOIN participants p ON p.conversation_id = t.conversation_id AND p.user_id = n.user_id
    LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = n.user_id
   WHERE n.read_at IS NULL AND n.scope_id IS NOT NULL AND ${condition}`

/** The unread notifications of threads, of all participants. By the followers of the threads. */
export function listOfThreads(tx: Queries, rootIds: readonly string[]): Promise<Standing[]> {
  const these = among(tx, rootIds)
  return tx.all<Standing>(
    threadRows(sql`n.scope_id ${these}
      AND n.user_id IN (SELECT f.user_id FROM thread_members f WHERE f.root_id ${these} AND ${MAY_FOLLOW}
                         UNION SELECT root.posted_by FROM messages root WHERE root.id ${these})`),
  )
}

/** The unread notifications of a reader for a thread, or for all threads of the conversation. */
export function listOfReader(tx: Queries, { user_id, conversation_id }: Reader, rootId?: string): Promise<Standing[]> {
  const scope = rootId === undefined ? sql`n.conversation_id = ${conversation_id}` : sql`n.scope_id = ${rootId}`
  return tx.all<Standing>(threadRows(sql`n.user_id = ${user_id} AND ${scope}`))
}

/** The number that the notification of a thread has for a reader. */
export async function countFollowed(tx: Queries, reader: Reader, rootId: string): Promise<number> {
  const row = await tx.get<{ count: number }>(
    sql`SELECT ${UNREAD_FOLLOWED} AS count ${threadsOf(reader, sql`t.root_id = ${rootId}`)}`,
  )
  return row?.count ?? 0
}

/**
 * The number of unread messages of a direct conversation.
 *
 * @param pending what the transaction adds to the messages of the conversation when it ends
 */
export async function countDirect(tx: Queries, { user_id, conversation_id }: Reader, pending: number): Promise<number> {
  const row = await tx.get<{ unread: number }>(
    sql`SELECT c.message_count - p.seen_count AS unread FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.conversation_id = ${conversation_id} AND p.user_id = ${user_id}`,
  )
  return Math.max(0, row!.unread + pending)
}

/** The unread notifications of kind `direct` of a reader for a conversation: several only of an earlier version. */
export function listDirect(
  tx: Queries,
  { user_id, conversation_id }: Reader,
): Promise<Omit<Standing, 'count' | 'latest' | 'deleted'>[]> {
  return tx.all(
    sql`SELECT user_id, id, kind, at, hidden, message_id FROM notifications
      WHERE user_id = ${user_id} AND conversation_id = ${conversation_id} AND read_at IS NULL AND kind = 'direct'
        AND ${IS_COUNTED_APART}`,
  )
}

/** The readers of a direct conversation; none of another one. By primary keys. */
export function listDirectReaders(tx: Queries, conversationId: string): Promise<Reader[]> {
  return tx.all<Reader>(
    sql`SELECT p.user_id, p.conversation_id FROM conversations c JOIN participants p ON p.conversation_id = c.id
      WHERE c.id = ${conversationId} AND c.is_direct = 1`,
  )
}

/** An unread notification that shows a message of which its user has one of its own. */
export interface Doubled extends NotificationKey {
  kind: 'direct' | 'reply'
  at: Micros
  hidden: number
  /** In a thread, another message to show. */
  other: string | null
}

/** The unread notifications of scopes that show a message, of users with one of the message itself. By (message_id). */
export function listDoubled(tx: Queries, messageId: string): Promise<Doubled[]> {
  const other = latestInThread(sql`NOT ${HAS_OWN}`)
  return tx.all<Doubled>(
    sql`SELECT n.user_id, n.id, n.kind, n.at, n.hidden, CASE WHEN n.kind = 'reply' THEN ${other} END AS other
       FROM notifications n JOIN messages root ON root.id = n.message_id
       JOIN threads t ON t.root_id = root.root_id
       JOIN participants p ON p.conversation_id = n.conversation_id AND p.user_id = n.user_id
       LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = n.user_id
      WHERE n.scope_id IS NOT NULL AND n.message_id = ${messageId} AND n.read_at IS NULL
        AND EXISTS (SELECT 1 FROM notifications o WHERE o.id = n.message_id AND o.user_id = n.user_id AND o.hidden < 2)`,
  )
}

/** The messages of a conversation among which the latest unread one is searched. */
const SEARCHED = 500

/**
 * The latest unread message of a direct conversation, first one without a notification of its own that arrived up to an
 * instant; `undefined` if none of the latest messages is unread. By the indexes by arrival.
 */
export async function findLatestDirect(
  tx: Queries,
  { user_id, conversation_id }: Reader,
  upTo: Micros,
  is: 'live' | 'deleted' = 'live',
): Promise<{ id: string; has_own: number } | undefined> {
  const latest = (kind: Sql) => sql`SELECT * FROM (
      SELECT id, root_id, parent_id, posted_by, created_at, deleted_at FROM messages
       WHERE conversation_id = ${conversation_id} AND ${kind} ORDER BY created_at DESC LIMIT ${SEARCHED}) AS part`
  return tx.get(
    sql`SELECT m.id, CASE WHEN ${HAS_OWN} THEN 1 ELSE 0 END AS has_own
       FROM (${latest(sql`parent_id IS NULL`)} UNION ALL ${latest(sql`parent_id IS NOT NULL`)}) AS m
       JOIN participants p ON p.conversation_id = ${conversation_id} AND p.user_id = ${user_id}
       JOIN threads t ON t.root_id = m.root_id
       LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
      WHERE m.deleted_at ${is === 'live' ? sql`IS NULL` : sql`IS NOT NULL`} AND ${IS_UNREAD}
      ORDER BY has_own, CASE WHEN m.created_at <= ${upTo} THEN 0 ELSE 1 END, m.created_at DESC
      LIMIT 1`,
  )
}

const SHOW = onRows<NotificationKey & { hidden: number; message_id: string }>(
  { user_id: 'text', id: 'text', hidden: 'bigint', message_id: 'text' },
  (given) =>
    sql`UPDATE notifications SET hidden = given.hidden, message_id = given.message_id FROM ${given}
      WHERE notifications.user_id = given.user_id AND notifications.id = given.id`,
)

/** Sets what these notifications show, and whether they are hidden. By primary key. */
export function setShown(
  tx: Queries,
  rows: readonly (NotificationKey & { hidden: 0 | 1; message_id: string })[],
): Promise<void> {
  return SHOW.run(
    tx,
    rows.map(({ user_id, id, hidden, message_id }) => ({ user_id, id, hidden, message_id })),
  )
}

/** Reads these notifications of a user, hidden ones too. By primary key. */
export async function setRead(tx: Queries, userId: string, ids: readonly string[], now: Micros): Promise<void> {
  await tx.run(sql`UPDATE notifications SET read_at = ${now} WHERE user_id = ${userId} AND id ${among(tx, ids)}`)
}

/** Hides the read notifications of scopes that show a deleted message, or shows them again. */
export async function setHiddenOfRead(
  tx: Queries,
  { id, root_id }: { id: string; root_id: string },
  hidden: 0 | 1,
): Promise<void> {
  await tx.run(
    sql`UPDATE notifications SET hidden = ${hidden}
      WHERE read_at IS NOT NULL AND ((scope_id IS NOT NULL AND message_id = ${id})
         OR (kind = 'direct' AND root_id = ${root_id} AND message_id = ${id}))`,
  )
}

/** The latest read notification of a scope that was moved at an instant or later. By (user_id, at, id, read_at). */
export async function findReadOf(
  tx: Queries,
  { user_id, conversation_id }: Reader,
  { scope, from }: { scope: string; from: Micros },
): Promise<string | undefined> {
  // An earlier version wrote none for kind `direct`.
  const ofScope =
    scope === conversation_id ? sql`kind = 'direct' AND conversation_id = ${scope}` : sql`scope_id = ${scope}`
  const row = await tx.get<{ id: string }>(
    sql`SELECT id FROM notifications
      WHERE user_id = ${user_id} AND at >= ${from} AND read_at IS NOT NULL AND ${ofScope}
      ORDER BY at DESC LIMIT 1`,
  )
  return row?.id
}

/** Makes a notification unread again, and that of its scope. By primary key. */
export async function setUnreadOf(tx: Queries, { user_id, id }: NotificationKey, scopeId: string): Promise<void> {
  await tx.run(
    sql`UPDATE notifications SET read_at = NULL, hidden = 1, scope_id = ${scopeId}, root_id = NULL
      WHERE user_id = ${user_id} AND id = ${id}`,
  )
}

/** Deletes a notification. By primary key. */
export async function remove(tx: Queries, { user_id, id }: NotificationKey): Promise<void> {
  await tx.run(sql`DELETE FROM notifications WHERE user_id = ${user_id} AND id = ${id}`)
}
