import type { Migration } from './migrations.ts'

const COLUMNS =
  'user_id, id, kind, at, conversation_id, root_id, message_id, actor_user_id, count, since, read_at, hidden'

/** The kinds with an id, a conversation and an actor of their own; other kinds take these from their message. */
const OWN = "kind IN ('direct', 'added')"

/**
 * Notifications are small: a message that notifies a thousand users writes little more for each of them than a place in
 * the inbox.
 */
export const inboxes: Migration = {
  name: '0022-inboxes',
  statements: ({ key, lean }, dialect) => [
    // The persons that a message mentions: their ids with commas between them, in their order.
    'ALTER TABLE messages ADD COLUMN mentioned TEXT',
    `UPDATE messages SET mentioned = (
       SELECT string_agg(e.user_id, ',' ORDER BY e.user_id) FROM mentions e WHERE e.message_id = messages.id)
      WHERE id IN (SELECT message_id FROM mentions)`,
    'DROP TABLE mentions',
    'CREATE INDEX messages_with_mentions ON messages (id) WHERE mentioned IS NOT NULL',
    `CREATE TABLE notifications_before (
      user_id ${key}, id ${key}, kind TEXT, at BIGINT, conversation_id ${key}, root_id ${key}, message_id ${key},
      actor_user_id ${key}, count BIGINT, since BIGINT, read_at BIGINT, hidden INTEGER)`,
    `INSERT INTO notifications_before (${COLUMNS}) SELECT ${COLUMNS} FROM notifications`,
    'DROP TABLE notifications',
    // `id`: of the message that notifies; of kind `direct` and `added` an id of its own. Only these two have a conversation
    // and an actor, and `direct` a thread and its latest message.
    `CREATE TABLE notifications (
      id ${key} NOT NULL,
      user_id ${key} NOT NULL,
      kind TEXT NOT NULL,
      at BIGINT NOT NULL,
      read_at BIGINT,
      hidden INTEGER NOT NULL DEFAULT 0,
      conversation_id ${key}, root_id ${key}, message_id ${key}, actor_user_id ${key},
      count BIGINT, since BIGINT,
      PRIMARY KEY (id, user_id))${lean}`,
    `INSERT INTO notifications (${COLUMNS}) SELECT ${COLUMNS} FROM notifications_before WHERE ${OWN}`,
    `INSERT INTO notifications (user_id, id, kind, at, read_at, hidden)
     SELECT user_id, message_id, kind, at, read_at, hidden FROM notifications_before WHERE NOT ${OWN}`,
    'DROP TABLE notifications_before',
    'CREATE INDEX notifications_in_order ON notifications (user_id, at, id, read_at)',
    `CREATE UNIQUE INDEX notifications_of_direct_thread ON notifications (user_id, root_id)
      WHERE kind = 'direct' AND read_at IS NULL`,
    "CREATE INDEX notifications_of_thread ON notifications (root_id) WHERE kind = 'direct'",
    "CREATE INDEX notifications_of_conversation ON notifications (conversation_id) WHERE kind = 'added'",
    "CREATE INDEX notifications_by_actor ON notifications (actor_user_id) WHERE kind = 'added'",
    // The readers of a message are all participants but these few users.
    'CREATE UNIQUE INDEX users_without_receipts ON users (id) WHERE receipts = 0',
    // The notifications that `participants.unread_mentions` does not count; reading a thread reads hidden ones, too.
    `CREATE INDEX notifications_uncounted ON notifications (user_id) WHERE read_at IS NULL AND (hidden > 0 OR ${OWN})`,
    // A post can change the counts of all participants: the new rows need no index entries if their pages have room.
    ...(dialect === 'postgresql' ? ['ALTER TABLE participants SET (fillfactor = 50)'] : []),
  ],
}
