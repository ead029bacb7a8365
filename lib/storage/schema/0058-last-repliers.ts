import { sql } from '../sql.ts'
import type { Migration } from './migrations.ts'

/** The value of `repliers_as_of` that a thread has while its list is right: each change of its messages changes it. */
export const REPLIERS_AS_OF = sql`last_activity_at + message_count`

/**
 * Whether a thread has replies, and not the list of those who wrote the last ones: a program that knows no such list has
 * stored or deleted a message, or the thread is older than the list.
 */
export const IS_UNLISTED_REPLIERS = sql`last_activity_at > created_at
  AND (repliers_as_of IS NULL OR repliers_as_of <> ${REPLIERS_AS_OF})`

/** The users who replied last in a thread. A service fills it after its start. */
export const lastRepliers: Migration = {
  name: '0058-last-repliers',
  statements: () => [
    // The latest first, with commas between them: a user, a colon, the arrival of the latest reply of theirs.
    'ALTER TABLE threads ADD COLUMN last_repliers TEXT',
    // The latest activity plus the number of messages, when the list was made.
    'ALTER TABLE threads ADD COLUMN repliers_as_of BIGINT',
    `CREATE INDEX threads_without_repliers ON threads (root_id) WHERE ${IS_UNLISTED_REPLIERS.text}`,
  ],
}
