import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'
import type { NotificationKind } from './schema.ts'
import type { ChangedMessage } from './store-changes.ts'

interface DirectRow {
  user_id: string
  id: string
  read_at: Micros | null
  hidden: number
}

/**
 * The notifications of kind `direct` that stand for a message of a direct conversation, which notifies their users of
 * nothing else; none of another conversation. By (root_id).
 */
export function listStandingFor(tx: Queries, message: ChangedMessage): Promise<DirectRow[]> {
  const { id, root_id, posted_by, created_at } = message
  return tx.all<DirectRow>(
    sql`SELECT d.user_id, d.id, d.read_at, d.hidden
       FROM notifications d JOIN participants p ON p.conversation_id = d.conversation_id AND p.user_id = d.user_id
      WHERE d.user_id <> ${posted_by ?? ''} AND d.kind = 'direct' AND d.root_id = ${root_id}
        AND d.since <= ${created_at} AND d.at >= ${created_at}
        AND NOT EXISTS (SELECT 1 FROM notifications o WHERE o.id = ${id} AND o.user_id = d.user_id)`,
  )
}

/** The messages `m` for which a notification stands. */
const ITS_MESSAGES = sql`FROM messages m
  WHERE m.root_id = notifications.root_id AND m.posted_by <> notifications.user_id
    AND m.created_at >= notifications.since AND m.created_at <= notifications.at
    AND NOT EXISTS (SELECT 1 FROM notifications o WHERE o.id = m.id AND o.user_id = notifications.user_id)`

const HAS_MESSAGE = sql`EXISTS (SELECT 1 ${ITS_MESSAGES} AND m.deleted_at IS NULL)`

/**
 * Changes the number of messages that notifications of kind `direct` stand for, because a message was deleted or restored.
 * They show the latest one that is not deleted; without any, they are hidden. Messages that arrived while the user wanted to hear
 * of none are counted out although they were never counted in: while there is a message, there is at least one.
 *
 * @returns the users whose number of unread notifications may have changed
 */
export async function shiftDirect(tx: Queries, message: ChangedMessage, by: 1 | -1): Promise<string[]> {
  const rows = await listStandingFor(tx, message)
  for (const { user_id, id } of rows)
    await tx.run(
      sql`UPDATE notifications SET hidden = CASE WHEN ${HAS_MESSAGE} THEN 0 ELSE 1 END,
              count = CASE WHEN count + ${by} < 1 AND ${HAS_MESSAGE} THEN 1 ELSE count + ${by} END,
              message_id = coalesce(
                (SELECT m.id ${ITS_MESSAGES} AND m.deleted_at IS NULL ORDER BY m.created_at DESC LIMIT 1), message_id)
        WHERE user_id = ${user_id} AND id = ${id}`,
    )
  return rows.filter(({ read_at }) => read_at === null).map(({ user_id }) => user_id)
}

interface Key {
  user_id: string
  id: string
}

/** The notification of kind `direct` that a message belongs to by its arrival: else the latest one, while that is unread. */
export async function findDirectNotification(
  tx: Queries,
  userId: string,
  { root_id, created_at }: ChangedMessage,
): Promise<string | undefined> {
  const row = await tx.get<{ id: string }>(
    sql`SELECT id FROM notifications
      WHERE user_id = ${userId} AND root_id = ${root_id} AND kind = 'direct' AND (at >= ${created_at}
          OR read_at IS NULL)
      ORDER BY CASE WHEN at >= ${created_at} THEN 0 ELSE 1 END, at
      LIMIT 1`,
  )
  return row?.id
}

/** Makes the notification of a message one of kind `direct`, of this message alone. @param newId its id from then on */
export async function convertToDirect(
  tx: Queries,
  userId: string,
  newId: string,
  { id, conversation_id, root_id, posted_by, created_at }: ChangedMessage,
): Promise<void> {
  await tx.run(
    sql`UPDATE notifications SET id = ${newId}, kind = 'direct', at = ${created_at}, since = ${created_at}, count = 1,
            conversation_id = ${conversation_id}, root_id = ${root_id}, message_id = ${id}, actor_user_id = ${posted_by}
      WHERE user_id = ${userId} AND id = ${id}`,
  )
}

/** Deletes a notification, and makes another one of kind `direct` stand for the time at which its message arrived. */
export async function replaceBy(
  tx: Queries,
  { user_id, id }: Key,
  directId: string,
  { created_at }: ChangedMessage,
): Promise<void> {
  await tx.run(sql`DELETE FROM notifications WHERE user_id = ${user_id} AND id = ${id}`)
  await tx.run(
    sql`UPDATE notifications SET since = CASE WHEN since > ${created_at} THEN ${created_at} ELSE since END,
            at = CASE WHEN at < ${created_at} THEN ${created_at} ELSE at END
      WHERE user_id = ${user_id} AND id = ${directId}`,
  )
}

/** Another message for which a notification stands: the latest one, or a deleted one if there is no other. */
export async function findOther(
  tx: Queries,
  { user_id, id }: Key,
  message: ChangedMessage,
): Promise<string | undefined> {
  const others = sql`SELECT m.id ${ITS_MESSAGES} AND m.id <> ${message.id}`
  const row = await tx.get<{ other: string | null }>(
    sql`SELECT coalesce((${others} AND m.deleted_at IS NULL ORDER BY m.created_at DESC LIMIT 1),
                     (${others} AND m.deleted_at IS NOT NULL LIMIT 1)) AS other
       FROM notifications WHERE user_id = ${user_id} AND id = ${id}`,
  )
  return row?.other ?? undefined
}

/** Makes it stand for one message less, and show another one. */
export async function decrement(tx: Queries, { user_id, id }: Key, otherId: string): Promise<void> {
  await tx.run(
    sql`UPDATE notifications SET message_id = ${otherId}, count = CASE WHEN count > 1 THEN count - 1
          ELSE 1 - shown.hidden END,
            hidden = shown.hidden
       FROM (SELECT CASE WHEN deleted_at IS NULL THEN 0 ELSE 1 END AS hidden FROM messages
       WHERE id = ${otherId}) AS shown
      WHERE user_id = ${user_id} AND id = ${id}`,
  )
}

/** Makes it a mention, of this message alone. */
export async function convertToMention(
  tx: Queries,
  { user_id, id, kind }: Key & { kind: NotificationKind },
  { id: message_id, created_at }: ChangedMessage,
): Promise<void> {
  await tx.run(
    sql`UPDATE notifications SET id = ${message_id}, kind = ${kind}, at = ${created_at}, conversation_id = NULL,
          root_id = NULL, message_id = NULL,
            actor_user_id = NULL, count = NULL, since = NULL
      WHERE user_id = ${user_id} AND id = ${id}`,
  )
}

/** Inserts a mention without announcing it to the user. */
export async function insertMention(
  tx: Queries,
  { user_id, kind }: { user_id: string; kind: NotificationKind },
  { id, created_at }: ChangedMessage,
): Promise<void> {
  await tx.run(sql`INSERT INTO notifications (user_id, id, kind, at)
         VALUES (${user_id}, ${id}, ${kind}, ${created_at})`)
}
