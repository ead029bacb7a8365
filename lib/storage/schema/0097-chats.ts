import type { Migration } from './migrations.ts'

/**
 * The names that users give to threads, by which clients of protocols ask for them. One whose first question was not asked yet
 * has no thread.
 */
export const chats: Migration = {
  name: '0097-chats',
  statements: ({ key }) => [
    `CREATE TABLE chats (
      user_id ${key} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name ${key} NOT NULL,
      conversation_id ${key} NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
      root_id ${key} REFERENCES threads (root_id) ON DELETE CASCADE,
      metadata TEXT,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (user_id, name))`,
    'CREATE INDEX chats_of_thread ON chats (root_id)',
    'CREATE INDEX chats_of_conversation ON chats (conversation_id)',
  ],
}
