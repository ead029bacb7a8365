import type { Migration } from './migrations.ts'

/**
 * Marks of whole conversations, in the row of the participant: reading everything writes no row for each thread. What a
 * mark of a thread puts back is an exception, in the row of the thread's member.
 */
export const readFloors: Migration = {
  name: '0048-read-floors',
  statements: ({ key }) => [
    // Up to the arrivals `replies_read_to` and `roots_read_to` all replies, and all roots, are read. `replies_read_at` and
    // `roots_read_at`: when such a mark was set that ended all exceptions.
    'ALTER TABLE participants ADD COLUMN replies_read_to BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE participants ADD COLUMN replies_read_at BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE participants ADD COLUMN roots_read_to BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE participants ADD COLUMN roots_read_at BIGINT NOT NULL DEFAULT 0',
    // Exceptions, by the instant at which they were made: `reopened_at`: the marker of the thread alone counts for its
    // replies; `root_unread_at`: its root is unread. `reopened_in`: with one of them, the conversation.
    'ALTER TABLE thread_members ADD COLUMN reopened_at BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE thread_members ADD COLUMN root_unread_at BIGINT NOT NULL DEFAULT 0',
    `ALTER TABLE thread_members ADD COLUMN reopened_in ${key}`,
    'CREATE INDEX reopened_threads ON thread_members (user_id, reopened_in, reopened_at) WHERE reopened_at > 0',
    'CREATE INDEX unread_roots ON thread_members (user_id, reopened_in, root_unread_at) WHERE root_unread_at > 0',
    // A thread without a reply is read by `roots_read_to`.
    `CREATE INDEX threads_with_replies ON threads (conversation_id, last_activity_at)
      WHERE last_activity_at > created_at`,
  ],
}
