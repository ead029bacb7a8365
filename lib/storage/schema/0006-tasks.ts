import type { Migration } from './migrations.ts'

export const tasks: Migration = {
  name: '0006-tasks',
  statements: ({ key, lean }) => [
    // Work that outlives its request. `writer`: the process that runs it, until its lease expires. `detail`: as JSON,
    // the parameters and the progress.
    `CREATE TABLE tasks (
      id ${key} PRIMARY KEY,
      kind ${key} NOT NULL, key ${key} NOT NULL,
      due_at BIGINT NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0,
      writer ${key},
      lease_expires_at BIGINT,
      detail TEXT,
      UNIQUE (kind, key))`,
    'CREATE INDEX tasks_by_due ON tasks (due_at)',
    // A deleted conversation is hidden at once and removed by a task.
    'ALTER TABLE conversations ADD COLUMN deleted_at BIGINT',
    'CREATE INDEX conversations_deleted ON conversations (deleted_at) WHERE deleted_at IS NOT NULL',
    // Erased users whose messages a task still processes. `messages`: `keep` them without an author, or `erase`.
    `CREATE TABLE erased_authors (
      user_id ${key} PRIMARY KEY,
      messages TEXT NOT NULL,
      erased_at BIGINT NOT NULL)${lean}`,
  ],
}
