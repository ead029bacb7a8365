import type { Dialect } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'
import type { Invariant } from './invariant.ts'

/** The invariants of mentions and notifications. That a user has one for a message is held by the primary key. */
export function notificationInvariants(dialect: Dialect): Invariant[] {
  const persons =
    dialect === 'sqlite'
      ? sql`json_each('["' || replace(m.mentioned, ',', '","') || '"]') e`
      : sql`unnest(string_to_array(m.mentioned, ',')) AS e(value)`
  return [
    {
      name: 'mention-rows-participate-or-left',
      says: 'A message mentions users who participate in its conversation, or have left it.',
      remedy: 'Harmless: the message shows an id of no user.',
      find: sql`SELECT m.id FROM messages m CROSS JOIN ${persons} LEFT JOIN users u ON u.id = e.value
              WHERE m.mentioned IS NOT NULL AND (u.id IS NULL OR m.mention_all IS NULL)`,
    },
    {
      name: 'notification-per-person-and-message',
      says: 'A notification is of an existing user, about a message of its thread, and hidden while that is deleted.',
      remedy: 'Harmless: the inbox of a user shows one entry too many or too few.',
      find: sql`SELECT n.id FROM notifications n LEFT JOIN users u ON u.id = n.user_id
               LEFT JOIN messages m ON m.id = coalesce(n.message_id, n.id)
              WHERE u.id IS NULL
                 OR (n.kind NOT IN ('added', 'system') AND (m.id IS NULL OR m.conversation_id <> n.conversation_id OR m.root_id <> n.root_id))
                 OR (n.kind NOT IN ('direct', 'added', 'system') AND n.scope_id IS NULL AND (m.deleted_at IS NULL) <> (n.hidden IN (0, 2)))`,
    },
  ]
}
