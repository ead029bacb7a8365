import type { Migration } from './migrations.ts'

export const notifications: Migration = {
  name: '0021-notifications',
  statements: ({ key, lean }) => [
    // NULL: the message mentions no person; 0: only those of `mentions`; 1: all participants, too.
    'ALTER TABLE messages ADD COLUMN mention_all INTEGER',
    `CREATE TABLE mentions (
      message_id ${key} NOT NULL REFERENCES messages ON DELETE CASCADE,
      user_id ${key} NOT NULL,
      PRIMARY KEY (message_id, user_id))${lean}`,
    'CREATE INDEX mentions_of_user ON mentions (user_id)',
    // The inbox of each user. Without references to users and messages: PostgreSQL would read and lock a row of each for
    // every notification, and one post can make a thousand. `hidden`: 0, or the sum of 1, the message is deleted, and 2, an
    // edit has taken the mention back. `count`: the messages that a notification of kind `direct` stands for; `since`: the
    // arrival of the first of them.
    `CREATE TABLE notifications (
      user_id ${key} NOT NULL,
      id ${key} NOT NULL,
      kind TEXT NOT NULL,
      at BIGINT NOT NULL,
      conversation_id ${key} NOT NULL,
      root_id ${key}, message_id ${key}, actor_user_id ${key},
      count BIGINT, since BIGINT,
      read_at BIGINT,
      hidden INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (user_id, id))${lean}`,
    // One per person and message, through edits and races.
    'CREATE UNIQUE INDEX notifications_of_message ON notifications (message_id, user_id)',
    `CREATE UNIQUE INDEX notifications_of_direct_thread ON notifications (user_id, root_id)
      WHERE kind = 'direct' AND read_at IS NULL`,
    'CREATE INDEX notifications_in_order ON notifications (user_id, at, id)',
    'CREATE INDEX notifications_unread ON notifications (user_id, conversation_id, root_id) WHERE read_at IS NULL',
    'CREATE INDEX notifications_by_age ON notifications (at)',
    // Finds the notifications without a message.
    'CREATE INDEX notifications_of_conversation ON notifications (conversation_id) WHERE message_id IS NULL',
    'CREATE INDEX notifications_by_actor ON notifications (actor_user_id) WHERE message_id IS NULL',
  ],
}
