import type { Migration } from './migrations.ts'

/**
 * Addresses at which other tools post into a conversation. The author is a user of the kind `bot` without an owner; of the
 * token in the address there is a digest. With `root_id` the messages are replies in that thread.
 */
export const hooks: Migration = {
  name: '0081-hooks',
  statements: ({ key }) => [
    `CREATE TABLE hooks (
      id ${key} PRIMARY KEY,
      conversation_id ${key} NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
      bot_id ${key} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      root_id ${key},
      token_hash ${key} NOT NULL UNIQUE,
      created_by ${key},
      created_at BIGINT NOT NULL)`,
    'CREATE INDEX hooks_of_conversation ON hooks (conversation_id)',
    'CREATE INDEX hooks_of_bot ON hooks (bot_id)',
    'CREATE INDEX hooks_of_maker ON hooks (created_by) WHERE created_by IS NOT NULL',
  ],
}
