import { sql } from '../sql.ts'
import type { Migration } from './migrations.ts'

/** Whether a member may follow a thread: the author of its root may without. */
const MAY_FOLLOW = sql`followed_at IS NOT NULL OR listed_at IS NOT NULL`

/**
 * The members who may follow a thread, among all who have read it, in one index instead of two: a reply changes it for each
 * of them. With the columns of its condition, without which SQLite takes it for no better than the primary key.
 */
export const followersOfThreads: Migration = {
  name: '0060-followers-of-threads',
  statements: () => [
    `CREATE INDEX followers_of_thread ON thread_members (root_id, user_id, followed_at, listed_at) WHERE ${MAY_FOLLOW.text}`,
    'DROP INDEX followers',
    'DROP INDEX thread_followers',
  ],
}
