import type { Invariant } from './invariants.ts'

/** The invariants of mentions and notifications. That a user has one for a message is held by an index. */
export const NOTIFICATIONS: Invariant[] = [
  {
    name: 'mention-rows-participate-or-left',
    says: 'A message mentions users who participate in its conversation, or have left it.',
    remedy: 'Harmless: the message shows an id of no user.',
    find: `SELECT e.message_id AS id FROM mentions e LEFT JOIN users u ON u.id = e.user_id
             LEFT JOIN messages m ON m.id = e.message_id
            WHERE u.id IS NULL OR m.mention_all IS NULL`,
  },
  {
    name: 'notification-per-person-and-message',
    says: 'A notification is of an existing user, about a message of its thread, and hidden while that is deleted.',
    remedy: 'Harmless: the inbox of a user shows one entry too many or too few.',
    find: `SELECT n.id FROM notifications n LEFT JOIN users u ON u.id = n.user_id
             LEFT JOIN messages m ON m.id = n.message_id
            WHERE u.id IS NULL
               OR (n.message_id IS NOT NULL
                   AND (m.id IS NULL OR m.conversation_id <> n.conversation_id OR m.root_id <> n.root_id
                        OR (n.kind <> 'direct' AND (m.deleted_at IS NULL) <> (n.hidden IN (0, 2)))))`,
  },
]
