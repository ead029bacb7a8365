import type { Migration } from './migrations.ts'

export const hosts: Migration = {
  name: '0017-hosts',
  statements: ({ key }) => [
    // When the host has ended the streams of a person: those opened before must close.
    'ALTER TABLE users ADD COLUMN streams_ended_at BIGINT',
    // The name of a system actor that posts: such a user cannot sign in, and participates in no conversation.
    `ALTER TABLE users ADD COLUMN system_name ${key}`,
    'CREATE UNIQUE INDEX users_by_system_name ON users (system_name)',
    // What a host keeps of its own: its id of the thing that a conversation is about, and a JSON object.
    `ALTER TABLE conversations ADD COLUMN ref ${key}`,
    'ALTER TABLE conversations ADD COLUMN metadata TEXT',
    'CREATE UNIQUE INDEX conversations_by_ref ON conversations (ref)',
    'ALTER TABLE messages ADD COLUMN metadata TEXT',
  ],
}
