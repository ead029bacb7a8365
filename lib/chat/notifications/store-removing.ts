import type { Primitive, Queries } from '../../storage/database.ts'
import { isOneOf, jsonList, type Micros } from '../../storage/sql.ts'
import { isCounted } from './rules.ts'
import type { NotificationKind } from './schema.ts'

/** Removes the actor of notifications of these messages, whose author is erased. By message_id. */
export async function forgetActorOf(tx: Queries, messageIds: Primitive): Promise<void> {
  await tx.run(`UPDATE notifications SET actor_user_id = NULL WHERE message_id ${isOneOf(tx.dialect)}`, messageIds)
}

/** Removes the mentions and the notifications of messages whose texts are erased, in conversations that are locked. */
export async function removeOfMessages(tx: Queries, messageIds: Primitive): Promise<void> {
  const these = isOneOf(tx.dialect)
  await tx.run(`DELETE FROM mentions WHERE message_id ${these}`, messageIds)
  const rows = await tx.all<Removed>(
    `DELETE FROM notifications WHERE message_id ${these} RETURNING user_id, conversation_id, kind, read_at, hidden`,
    messageIds,
  )
  await countRemoved(tx, rows)
}

/**
 * Deletes up to `limit` notifications from before an instant, oldest first. By at.
 *
 * @returns the number of notifications
 */
export async function deleteNotificationsBefore(tx: Queries, before: Micros, limit: number): Promise<number> {
  const old = await tx.all<{ id: string; conversation_id: string; at: Micros }>(
    'SELECT id, conversation_id, at FROM notifications WHERE at < ? ORDER BY at LIMIT ?',
    before,
    limit,
  )
  if (old.length === 0) return 0
  const these = isOneOf(tx.dialect)
  // In the order of ids, so that two calls cannot deadlock: what changes the counts waits.
  if (tx.dialect === 'postgresql')
    await tx.all(
      `SELECT id FROM conversations WHERE id ${these} ORDER BY id FOR UPDATE`,
      jsonList(new Set(old.map((each) => each.conversation_id))),
    )
  const rows = await tx.all<Removed>(
    `DELETE FROM notifications WHERE at <= ? AND id ${these}
      RETURNING user_id, conversation_id, kind, read_at, hidden`,
    // Not `before`: each batch would read all that have expired.
    old.at(-1)!.at,
    jsonList(old.map(({ id }) => id)),
  )
  await countRemoved(tx, rows)
  return old.length
}

/** A notification that is removed. */
export interface Removed {
  user_id: string
  conversation_id: string
  kind: NotificationKind
  read_at: number | null
  hidden: number
}

/** Subtracts removed notifications from the unread mentions of their users. */
export async function countRemoved(tx: Queries, rows: Removed[]): Promise<void> {
  const unread = rows.filter(({ kind, read_at, hidden }) => read_at === null && hidden === 0 && isCounted(kind))
  for (const { user_id, conversation_id } of unread)
    await tx.run(
      'UPDATE participants SET unread_mentions = unread_mentions - 1 WHERE conversation_id = ? AND user_id = ?',
      conversation_id,
      user_id,
    )
}

/**
 * Deletes up to `limit` notifications of an erased user, and removes the user from as many, as the one who has added others.
 *
 * @returns whether there may be more
 */
export async function eraseFromInboxes(tx: Queries, userId: string, limit: number): Promise<boolean> {
  const inbox = await tx.run(
    'DELETE FROM notifications WHERE user_id = ? AND id IN (SELECT id FROM notifications WHERE user_id = ? LIMIT ?)',
    userId,
    userId,
    limit,
  )
  const acts = await tx.run(
    `UPDATE notifications SET actor_user_id = NULL WHERE (user_id, id) IN (
       SELECT user_id, id FROM notifications WHERE actor_user_id = ? AND message_id IS NULL LIMIT ?)`,
    userId,
    limit,
  )
  return Math.max(inbox, acts) === limit
}
