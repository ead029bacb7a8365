import type { Migration } from './migrations.ts'

/**
 * Since when the member of a thread follows it; negative: since when not. NULL: an author of the thread follows it since the
 * first message of theirs, another member does not.
 */
export const following: Migration = {
  name: '0049-following',
  statements: () => ['ALTER TABLE thread_members ADD COLUMN followed_at BIGINT'],
}
