import type { Migration } from './migrations.ts'

/**
 * The commands of bots and parts of the host, by the id of the program and as JSON, and their calls, which are wiped minutes later. What a
 * program writes for a call has the caller and the name of the command, also afterwards.
 */
export const commands: Migration = {
  name: '0087-commands',
  statements: ({ key }) => [
    `CREATE TABLE bot_commands (
      id ${key} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      commands TEXT NOT NULL,
      is_everywhere INTEGER NOT NULL DEFAULT 0)`,
    'CREATE INDEX commands_everywhere ON bot_commands (id) WHERE is_everywhere = 1',
    `CREATE TABLE invocations (
      id ${key} PRIMARY KEY,
      conversation_id ${key} NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
      bot_id ${key} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      user_id ${key} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      root_id ${key} REFERENCES messages (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      options TEXT NOT NULL,
      idempotency_key ${key},
      request_hash TEXT,
      created_at BIGINT NOT NULL)`,
    'CREATE UNIQUE INDEX keys_of_invocations ON invocations (user_id, idempotency_key)',
    'CREATE INDEX invocations_of_conversation ON invocations (conversation_id)',
    'CREATE INDEX invocations_of_bot ON invocations (bot_id)',
    'CREATE INDEX invocations_of_thread ON invocations (root_id) WHERE root_id IS NOT NULL',
    'CREATE INDEX invocations_by_age ON invocations (created_at)',
    `ALTER TABLE notices ADD COLUMN invoked_by ${key}`,
    'ALTER TABLE notices ADD COLUMN invoked_name TEXT',
    `ALTER TABLE messages ADD COLUMN invoked_by ${key}`,
    'ALTER TABLE messages ADD COLUMN invoked_name TEXT',
    'CREATE INDEX messages_of_caller ON messages (invoked_by) WHERE invoked_by IS NOT NULL',
    'CREATE INDEX notices_of_caller ON notices (invoked_by) WHERE invoked_by IS NOT NULL',
  ],
}
