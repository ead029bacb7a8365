import type { Queries } from '../../storage/database.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'
import { FOLLOWED_SINCE } from '../../storage/unread-set.ts'
import type { NotificationKind } from './schema.ts'
import type { ChangedMessage } from './store-changes.ts'

interface DirectRow {
  user_id: string
  id: string
  read_at: Micros | null
  hidden: number
}

/**
 * The latest notifications of kind `direct` that stand for a message of a direct conversation, which notifies their users of
 * nothing else; none of another conversation. By the inboxes of the two participants.
 */
export function listStandingFor(tx: Queries, message: ChangedMessage): Promise<DirectRow[]> {
  const { id, root_id, conversation_id, posted_by, created_at } = message
  return tx.all<DirectRow>(
    sql`SELECT d.user_id, d.id, d.read_at, d.hidden
       FROM conversations c JOIN participants p ON p.conversation_id = c.id
       JOIN notifications d ON d.user_id = p.user_id AND d.at >= ${created_at} AND d.kind = 'direct'
                           AND d.conversation_id = c.id AND coalesce(d.root_id, ${root_id}) = ${root_id}
      WHERE c.id = ${conversation_id} AND c.is_direct = 1 AND p.user_id <> ${posted_by ?? ''}
        AND d.since <= ${created_at}
        AND NOT EXISTS (SELECT 1 FROM notifications o WHERE o.id = ${id} AND o.user_id = d.user_id)
      ORDER BY d.at LIMIT 1`,
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

/**
 * Adds a message to the unread notifications of its scope, as if it had moved them when it arrived: of a direct conversation, or
 * of the thread for users who followed it then. Those that did not exist are hidden.
 */
export async function standFor(
  tx: Queries,
  { id, conversation_id, root_id, created_at }: ChangedMessage,
  userIds: readonly string[],
  newId: string,
): Promise<void> {
  const isOfThread = sql`(CAST(${id} AS TEXT) <> t.root_id AND ${FOLLOWED_SINCE} <= ${created_at})`
  await tx.run(
    sql`INSERT INTO notifications (user_id, id, kind, at, hidden, conversation_id, scope_id, message_id, since)
     SELECT p.user_id, CAST(${newId} AS TEXT), CASE WHEN c.is_direct = 1 THEN 'direct' ELSE 'reply' END,
            CAST(${created_at} AS BIGINT), 1, c.id, CASE WHEN c.is_direct = 1 THEN c.id ELSE t.root_id END,
            CAST(${id} AS TEXT), CAST(${created_at} AS BIGINT)
       FROM conversations c JOIN participants p ON p.conversation_id = c.id JOIN threads t ON t.root_id = ${root_id}
       LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
      WHERE c.id = ${conversation_id} AND p.user_id ${among(tx, userIds)} AND (c.is_direct = 1 OR ${isOfThread})
     ON CONFLICT (user_id, scope_id) WHERE scope_id IS NOT NULL AND read_at IS NULL DO UPDATE
        SET since = CASE WHEN excluded.since < notifications.since THEN excluded.since ELSE notifications.since END,
            message_id = CASE WHEN excluded.at > notifications.at THEN excluded.message_id
                              ELSE notifications.message_id END,
            at = CASE WHEN excluded.at > notifications.at THEN excluded.at ELSE notifications.at END`,
  )
}
