import { sql } from '../sql.ts'
import type { Migration } from './migrations.ts'

/**
 * Whether the members of a thread do not have its latest reply in their lists: a program that knows no such lists has
 * stored it, or the thread is older than they are.
 */
export const IS_UNLISTED = sql`last_activity_at > created_at AND listed_to <> last_activity_at`

/** The threads that a user follows as a list by activity, over all conversations. A service fills it after its start. */
export const followedThreads: Migration = {
  name: '0055-followed-threads',
  statements: ({ key }) => [
    // For a member who follows a thread with a reply, `listed_at`: the arrival of its latest message; `listed_in`: its
    // conversation; `news_at`: the arrival of the latest reply of another user since the member follows it.
    `ALTER TABLE thread_members ADD COLUMN listed_in ${key}`,
    'ALTER TABLE thread_members ADD COLUMN listed_at BIGINT',
    'ALTER TABLE thread_members ADD COLUMN news_at BIGINT',
    'CREATE INDEX followed_threads ON thread_members (user_id, listed_at, root_id) WHERE listed_at IS NOT NULL',
    // The members who follow a thread, among all who have read it.
    'CREATE INDEX thread_followers ON thread_members (root_id, user_id) WHERE listed_at IS NOT NULL',
    // A mark of the thread takes it out; for marks of the conversation it is sorted by activity. With all columns by which
    // its threads are counted.
    `CREATE INDEX followed_news ON thread_members (user_id, listed_in, listed_at, news_at, read_at)
      WHERE news_at > read_at`,
    // The activity up to which the members have the thread in their lists.
    'ALTER TABLE threads ADD COLUMN listed_to BIGINT NOT NULL DEFAULT 0',
    `CREATE INDEX unlisted_threads ON threads (conversation_id, root_id) WHERE ${IS_UNLISTED.text}`,
  ],
}
