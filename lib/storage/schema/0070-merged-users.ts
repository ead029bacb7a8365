import type { Migration } from './migrations.ts'

/**
 * The users that were merged into others, each with the host's own id that it had, and what was moved: the same merge
 * again returns that.
 */
export const mergedUsers: Migration = {
  name: '0070-merged-users',
  statements: ({ key, lean }) => [
    `CREATE TABLE merged_users (
      from_id ${key} PRIMARY KEY,
      into_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      subject ${key},
      merged_at BIGINT NOT NULL,
      messages BIGINT NOT NULL,
      conversations BIGINT NOT NULL)${lean}`,
    'CREATE INDEX merged_users_by_target ON merged_users (into_id)',
    'CREATE INDEX merged_users_by_subject ON merged_users (subject) WHERE subject IS NOT NULL',
  ],
}
