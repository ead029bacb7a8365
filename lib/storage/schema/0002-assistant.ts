import type { Migration } from './migrations.ts'

export const assistant: Migration = {
  name: '0002-assistant',
  statements: ({ key, lean }) => [
    // For answers: the prompt, why it ended, and its token usage as JSON. While it is being written, its `content` is
    // only in the chunks.
    'ALTER TABLE messages ADD COLUMN prompt TEXT',
    'ALTER TABLE messages ADD COLUMN finish_reason TEXT',
    'ALTER TABLE messages ADD COLUMN usage TEXT',
    `CREATE TABLE message_chunks (
      message_id ${key} NOT NULL REFERENCES messages ON DELETE CASCADE,
      idx INTEGER NOT NULL,
      content TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (message_id, idx))${lean}`,
    // Answers in progress. `writer`: the process that writes it; after its lease expires, the process counts as dead.
    `CREATE TABLE answers_under_way (
      message_id ${key} PRIMARY KEY REFERENCES messages ON DELETE CASCADE,
      conversation_id ${key} NOT NULL,
      writer ${key} NOT NULL,
      lease_expires_at BIGINT NOT NULL,
      chunk_count INTEGER NOT NULL DEFAULT 0)${lean}`,
    'CREATE INDEX answers_by_lease ON answers_under_way (lease_expires_at)',
    'CREATE INDEX answers_of_writer ON answers_under_way (writer)',
  ],
}
