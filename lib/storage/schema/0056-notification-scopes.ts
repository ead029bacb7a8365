import { sql } from '../sql.ts'
import type { Migration } from './migrations.ts'

/** The unread mentions of each user in each conversation. */
export const UNREAD_MENTIONS = sql`(SELECT m.conversation_id, n.user_id, count(*) AS total
   FROM notifications n JOIN messages m ON m.id = CASE WHEN n.scope_id IS NULL THEN n.id ELSE n.message_id END
  WHERE n.read_at IS NULL AND n.hidden = 0 AND n.kind IN ('mention', 'mention_all', 'reply', 'approval')
  GROUP BY m.conversation_id, n.user_id)`

/** Recomputes the unread mentions of all participants. */
export const RECOUNT_MENTIONS = sql`UPDATE participants SET unread_mentions = counted.total
  FROM (SELECT p.conversation_id, p.user_id, coalesce(news.total, 0) AS total FROM participants p
          LEFT JOIN ${UNREAD_MENTIONS} AS news ON news.conversation_id = p.conversation_id AND news.user_id = p.user_id) AS counted
 WHERE participants.conversation_id = counted.conversation_id AND participants.user_id = counted.user_id
   AND participants.unread_mentions <> counted.total`

/**
 * The thread, or the direct conversation, for which a notification stands while it is unread: of these messages, a user has one
 * notification. Others, and those that an earlier version wrote, have none.
 */
export const notificationScopes: Migration = {
  name: '0056-notification-scopes',
  statements: ({ key }) => [
    `ALTER TABLE notifications ADD COLUMN scope_id ${key}`,
    `CREATE UNIQUE INDEX notifications_of_scope ON notifications (user_id, scope_id)
      WHERE scope_id IS NOT NULL AND read_at IS NULL`,
    'CREATE INDEX notifications_showing ON notifications (message_id) WHERE scope_id IS NOT NULL',
  ],
}
