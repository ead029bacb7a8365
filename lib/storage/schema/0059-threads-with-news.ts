import type { Migration } from './migrations.ts'

/**
 * The followed threads of a participant that have a reply which is unread, and arrived since the participant follows them. NULL:
 * not counted yet, as the parts of what is unread.
 */
export const threadsWithNews: Migration = {
  name: '0059-threads-with-news',
  statements: () => ['ALTER TABLE participants ADD COLUMN followed_threads BIGINT'],
}
