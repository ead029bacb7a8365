import type { Place } from '../../core/pages.ts'
import type { Queries } from '../../storage/database.ts'
import { isOneOf, jsonList, type Micros } from '../../storage/sql.ts'
import { isCounted } from './rules.ts'
import type { NotificationKind } from './schema.ts'

/** A notification that was unread until now. */
interface ReadRow {
  id: string
  conversation_id: string
  kind: NotificationKind
  hidden: number
}

/**
 * Marks the notifications of a thread as read whose messages arrived up to an instant, in a transaction that has locked
 * the conversation. By the index of unread ones.
 *
 * @returns their ids
 */
export async function readInThread(
  tx: Queries,
  reader: { user_id: string; conversation_id: string },
  rootId: string,
  upTo: Micros,
  now: Micros,
): Promise<string[]> {
  const { user_id, conversation_id } = reader
  const rows = await tx.all<ReadRow>(
    `UPDATE notifications SET read_at = ?
      WHERE user_id = ? AND conversation_id = ? AND root_id = ? AND read_at IS NULL
        AND (SELECT m.created_at FROM messages m WHERE m.id = notifications.message_id) <= ?
      RETURNING id, conversation_id, kind, hidden`,
    now,
    user_id,
    conversation_id,
    rootId,
    upTo,
  )
  await countRead(tx, user_id, rows)
  return rows.filter(({ hidden }) => hidden === 0).map(({ id }) => id)
}

/** Which unread notifications are meant: some by their ids, or all up to a place. */
export type Meant = { ids: readonly string[] } | { upTo: Place }

/** Up to `limit` of them with their conversations, in which the user participates. By the index of unread ones. */
export function listMeant(
  db: Queries,
  userId: string,
  meant: Meant,
  limit: number,
): Promise<{ id: string; conversation_id: string }[]> {
  const isMeant = 'ids' in meant ? `n.id ${isOneOf(db.dialect)}` : '(n.at, n.id) <= (?, ?)'
  return db.all(
    `SELECT n.id, n.conversation_id FROM notifications n
       JOIN participants p ON p.conversation_id = n.conversation_id AND p.user_id = n.user_id
       JOIN conversations c ON c.id = n.conversation_id AND c.deleted_at IS NULL
      WHERE n.user_id = ? AND n.read_at IS NULL AND n.hidden = 0 AND ${isMeant}
      ORDER BY n.conversation_id
      LIMIT ?`,
    userId,
    ...('ids' in meant ? [jsonList(meant.ids)] : [meant.upTo.at, meant.upTo.id]),
    limit,
  )
}

/**
 * Locks those of these conversations in which a user participates, in the order of ids, so that two calls cannot
 * deadlock: what changes their notifications and counts waits.
 */
export async function lockConversationsOf(tx: Queries, userId: string, ids: Iterable<string>): Promise<Set<string>> {
  const rows = await tx.all<{ id: string }>(
    `SELECT c.id FROM conversations c JOIN participants p ON p.conversation_id = c.id AND p.user_id = ?
      WHERE c.id ${isOneOf(tx.dialect)} AND c.deleted_at IS NULL
      ORDER BY c.id ${tx.dialect === 'postgresql' ? 'FOR UPDATE OF c' : ''}`,
    userId,
    jsonList(ids),
  )
  return new Set(rows.map(({ id }) => id))
}

/** Marks notifications as read whose conversations are locked. By primary key. @returns the ids of those that were not */
export async function readByIds(tx: Queries, userId: string, ids: string[], now: Micros): Promise<string[]> {
  const rows = await tx.all<ReadRow>(
    `UPDATE notifications SET read_at = ?
      WHERE user_id = ? AND id ${isOneOf(tx.dialect)} AND read_at IS NULL AND hidden = 0
      RETURNING id, conversation_id, kind, hidden`,
    now,
    userId,
    jsonList(ids),
  )
  await countRead(tx, userId, rows)
  return rows.map(({ id }) => id)
}

/** Subtracts them from the unread mentions of their conversations. */
async function countRead(tx: Queries, userId: string, rows: ReadRow[]): Promise<void> {
  const counts = new Map<string, number>()
  for (const { conversation_id, kind, hidden } of rows)
    if (hidden === 0 && isCounted(kind)) counts.set(conversation_id, (counts.get(conversation_id) ?? 0) + 1)
  for (const [conversation_id, count] of counts)
    await tx.run(
      'UPDATE participants SET unread_mentions = unread_mentions - ? WHERE conversation_id = ? AND user_id = ?',
      count,
      conversation_id,
      userId,
    )
}
