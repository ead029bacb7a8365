import type { Queries } from '../../storage/database.ts'
import { type Whose, whose } from './store-changes.ts'
import { type ChangedMessage, countBy } from './store-counts.ts'
import { ITS_MESSAGES, listStandingFor, shiftDirect } from './store-direct.ts'

/**
 * Makes messages of kind `direct` of unread notifications in a direct conversation whose mentions an edit has removed: as if
 * the message had mentioned no user when it arrived.
 *
 * @returns the users
 */
export async function joinDirect(tx: Queries, message: ChangedMessage, given: Whose): Promise<string[]> {
  const [condition, ...params] = whose(tx, given)
  const rows = await tx.all<{ user_id: string; id: string; kind: Whose['kind']; read_at: null; hidden: number }>(
    `SELECT user_id, id, kind, read_at, hidden FROM notifications
      WHERE message_id = ? AND read_at IS NULL AND hidden = 0 AND kind = ? AND ${condition}`,
    message.id,
    given.kind,
    ...params,
  )
  for (const row of rows) {
    const thread = await findThreadOf(tx, row.user_id, message)
    await (thread === undefined ? becomeDirect(tx, row, message) : join(tx, row, thread, message))
  }
  return countBy(tx, message.conversation_id, rows, -1)
}

/** The notification of kind `direct` that a message belongs to by its arrival: else the latest one, while that is unread. */
async function findThreadOf(
  tx: Queries,
  userId: string,
  { root_id, created_at }: ChangedMessage,
): Promise<string | undefined> {
  const row = await tx.get<{ id: string }>(
    `SELECT id FROM notifications
      WHERE user_id = ? AND root_id = ? AND kind = 'direct' AND (at >= ? OR read_at IS NULL)
      ORDER BY CASE WHEN at >= ? THEN 0 ELSE 1 END, at
      LIMIT 1`,
    userId,
    root_id,
    created_at,
    created_at,
  )
  return row?.id
}

async function becomeDirect(tx: Queries, { user_id, id }: Key, { created_at }: ChangedMessage): Promise<void> {
  await tx.run(
    "UPDATE notifications SET kind = 'direct', at = ?, count = 1, since = ? WHERE user_id = ? AND id = ?",
    created_at,
    created_at,
    user_id,
    id,
  )
}

async function join(tx: Queries, { user_id, id }: Key, threadId: string, message: ChangedMessage): Promise<void> {
  const { created_at } = message
  await tx.run('DELETE FROM notifications WHERE user_id = ? AND id = ?', user_id, id)
  await tx.run(
    `UPDATE notifications SET since = CASE WHEN since > ? THEN ? ELSE since END, at = CASE WHEN at < ? THEN ? ELSE at END
      WHERE user_id = ? AND id = ?`,
    ...[created_at, created_at, created_at, created_at],
    user_id,
    threadId,
  )
  await shiftDirect(tx, message, 1)
}

/**
 * Makes mentions of a message of a direct conversation that unread notifications of kind `direct` stand for: an edit
 * mentions their users. They are not told of the message again.
 *
 * @param newId of a notification of its own, where the other one stands for more messages
 * @returns the users
 */
export async function leaveDirect(
  tx: Queries,
  message: ChangedMessage,
  kind: Whose['kind'],
  newId: string,
): Promise<string[]> {
  const rows = (await listStandingFor(tx, message)).filter((row) => row.read_at === null && row.hidden === 0)
  for (const { user_id, id } of rows) {
    const other = await findOther(tx, { user_id, id }, message)
    if (other === undefined) await becomeMention(tx, { user_id, id, kind }, message)
    else {
      await tx.run(
        `UPDATE notifications SET count = count - 1, hidden = CASE WHEN count > 1 THEN 0 ELSE 1 END, message_id = ?
          WHERE user_id = ? AND id = ?`,
        other,
        user_id,
        id,
      )
      await insertMention(tx, { user_id, id: newId, kind }, message)
    }
  }
  return countBy(
    tx,
    message.conversation_id,
    rows.map((row) => ({ ...row, kind })),
    1,
  )
}

interface Key {
  user_id: string
  id: string
}

/** Another message for which a notification stands: the latest one, or a deleted one if there is no other. */
async function findOther(tx: Queries, { user_id, id }: Key, message: ChangedMessage): Promise<string | undefined> {
  const others = `SELECT m.id ${ITS_MESSAGES} AND m.id <> ?`
  const row = await tx.get<{ other: string | null }>(
    `SELECT coalesce((${others} AND m.deleted_at IS NULL ORDER BY m.created_at DESC LIMIT 1),
                     (${others} AND m.deleted_at IS NOT NULL LIMIT 1)) AS other
       FROM notifications WHERE user_id = ? AND id = ?`,
    message.id,
    message.id,
    user_id,
    id,
  )
  return row?.other ?? undefined
}

async function becomeMention(
  tx: Queries,
  { user_id, id, kind }: Key & { kind: Whose['kind'] },
  { id: message_id, created_at }: ChangedMessage,
): Promise<void> {
  await tx.run(
    `UPDATE notifications SET kind = ?, message_id = ?, at = ?, count = NULL, since = NULL WHERE user_id = ? AND id = ?`,
    kind,
    message_id,
    created_at,
    user_id,
    id,
  )
}

async function insertMention(
  tx: Queries,
  { user_id, id, kind }: Key & { kind: Whose['kind'] },
  message: ChangedMessage,
): Promise<void> {
  await tx.run(
    `INSERT INTO notifications (user_id, id, kind, at, conversation_id, root_id, message_id, actor_user_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    user_id,
    id,
    kind,
    message.created_at,
    message.conversation_id,
    message.root_id,
    message.id,
    message.posted_by,
  )
}
