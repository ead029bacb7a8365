import { sql } from '../sql.ts'
import type { Migration } from './migrations.ts'

/** How many messages of others a participant `p` has not read in a conversation, thread by thread. */
const UNREAD = sql`(SELECT coalesce(sum(
    CASE WHEN r.read_at >= p.joined_at THEN t.message_count - r.live_count - r.read_count
         WHEN t.created_at > p.joined_at THEN t.message_count - coalesce(r.live_count, 0)
         ELSE (SELECT count(*) FROM messages m
                WHERE m.root_id = t.root_id AND m.created_at > p.joined_at AND m.deleted_at IS NULL
                  AND coalesce(m.posted_by, '') <> p.user_id) END), 0)
  FROM threads t LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
 WHERE t.conversation_id = p.conversation_id AND t.last_activity_at > p.joined_at)`

/** The messages of a conversation, from the counts of its threads. */
export const MESSAGE_COUNT = sql`(SELECT coalesce(sum(t.message_count), 0) FROM threads t WHERE t.conversation_id = conversations.id)`

/** The seen messages of a participant `p`, when there were markers of threads only. */
const SEEN_COUNT = sql`((SELECT c.message_count FROM conversations c WHERE c.id = p.conversation_id) - ${UNREAD})`

/** Recomputes the count of all conversations. */
export const RECOUNT_MESSAGES = sql`UPDATE conversations SET message_count = ${MESSAGE_COUNT}`

/**
 * What is unread in a conversation is a subtraction of two counts: `message_count`, its messages that are not deleted, and
 * `seen_count` of a participant, those among them that arrived before the participant joined, are the participant's own,
 * or were read.
 */
export const unreadTotals: Migration = {
  name: '0012-unread-totals',
  statements: () => [
    'ALTER TABLE conversations ADD COLUMN message_count BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE participants ADD COLUMN seen_count BIGINT NOT NULL DEFAULT 0',
    RECOUNT_MESSAGES.text,
    sql`UPDATE participants AS p SET seen_count = ${SEEN_COUNT}`.text,
  ],
}
