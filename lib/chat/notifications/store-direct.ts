import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { ChangedMessage } from './store-counts.ts'

/** The notifications `d` of kind `direct` that stand for a message, which notifies their users of nothing else. */
const STANDS_FOR = `d.kind = 'direct' AND d.root_id = ? AND d.since <= ? AND d.at >= ?
  AND NOT EXISTS (SELECT 1 FROM notifications o WHERE o.message_id = ? AND o.user_id = d.user_id AND o.kind <> 'direct')`

/** A notification of kind `direct`. */
interface DirectRow {
  user_id: string
  id: string
  read_at: Micros | null
  hidden: number
}

/** Those that stand for a message of a direct conversation; none of another conversation. By (user_id, at). */
export function listStandingFor(tx: Queries, message: ChangedMessage): Promise<DirectRow[]> {
  const { id, conversation_id, root_id, posted_by, created_at } = message
  return tx.all<DirectRow>(
    `SELECT d.user_id, d.id, d.read_at, d.hidden
       FROM participants p JOIN notifications d ON d.user_id = p.user_id
      WHERE p.conversation_id = (SELECT id FROM conversations WHERE id = ? AND is_direct = 1) AND p.user_id <> ?
        AND ${STANDS_FOR}`,
    conversation_id,
    posted_by ?? '',
    root_id,
    created_at,
    created_at,
    id,
  )
}

/** The messages `m` for which a notification stands. */
export const ITS_MESSAGES = `FROM messages m
  WHERE m.root_id = notifications.root_id AND m.posted_by <> notifications.user_id
    AND m.created_at >= notifications.since AND m.created_at <= notifications.at
    AND NOT EXISTS (SELECT 1 FROM notifications o
                     WHERE o.message_id = m.id AND o.user_id = notifications.user_id AND o.id <> notifications.id)`

/**
 * Changes the number of messages that notifications of kind `direct` stand for, because a message was deleted or restored.
 * They show the latest one that is not deleted; without any, they are hidden.
 *
 * @returns the users whose number of unread notifications may have changed
 */
export async function shiftDirect(tx: Queries, message: ChangedMessage, by: 1 | -1): Promise<string[]> {
  const rows = await listStandingFor(tx, message)
  for (const { user_id, id } of rows)
    await tx.run(
      `UPDATE notifications SET count = count + ?, hidden = CASE WHEN count + ? > 0 THEN 0 ELSE 1 END,
              message_id = coalesce(
                (SELECT m.id ${ITS_MESSAGES} AND m.deleted_at IS NULL ORDER BY m.created_at DESC LIMIT 1), message_id)
        WHERE user_id = ? AND id = ?`,
      by,
      by,
      user_id,
      id,
    )
  return rows.filter(({ read_at }) => read_at === null).map(({ user_id }) => user_id)
}

/** The users that a notification of kind `direct` has told of a message. */
export async function listToldDirectly(tx: Queries, message: ChangedMessage): Promise<Set<string>> {
  return new Set((await listStandingFor(tx, message)).map(({ user_id }) => user_id))
}
