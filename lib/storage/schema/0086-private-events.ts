import type { Migration } from './migrations.ts'

/**
 * Events for one user alone, and notices to a participant. A private event is in the order of all events, but not in that of
 * its conversation: its number there is negative, so that those of the others have no gaps, and an earlier program, which
 * finds no message of it, sends nothing.
 */
export const privateEvents: Migration = {
  name: '0086-private-events',
  statements: ({ key }) => [
    `ALTER TABLE events ADD COLUMN for_user_id ${key}`,
    'CREATE INDEX private_events ON events (for_user_id, id) WHERE for_user_id IS NOT NULL',
    `CREATE TABLE notices (
      id ${key} PRIMARY KEY,
      conversation_id ${key} NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
      user_id ${key} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      author_user_id ${key} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      root_id ${key} REFERENCES messages (id) ON DELETE CASCADE,
      content TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL)`,
    'CREATE INDEX notices_of_reader ON notices (user_id, conversation_id, id)',
    'CREATE INDEX notices_of_conversation ON notices (conversation_id)',
    'CREATE INDEX notices_of_author ON notices (author_user_id)',
    'CREATE INDEX notices_of_thread ON notices (root_id) WHERE root_id IS NOT NULL',
    'CREATE INDEX notices_by_end ON notices (expires_at)',
  ],
}
