import { sql } from '../sql.ts'
import type { Migration } from './migrations.ts'

/**
 * The last activity of conversations that do not have it yet: their latest message, else their creation. By
 * (conversation_id, last_activity_at) of threads, an entry for each conversation.
 */
export const FIND_ACTIVITY = sql`UPDATE conversations SET active_at = coalesce(
    (SELECT max(t.last_activity_at) FROM threads t WHERE t.conversation_id = conversations.id), created_at)
  WHERE active_at IS NULL`

export const people: Migration = {
  name: '0019-people',
  statements: ({ key }) => [
    // The time of the latest message: it orders the lists. `clock` is that of the latest change of any kind.
    'ALTER TABLE conversations ADD COLUMN active_at BIGINT',
    FIND_ACTIVITY.text,
    // A direct conversation belongs to the same two people for ever. `pair_key`: both ids, the smaller one first; NULL once
    // one of them is erased.
    'ALTER TABLE conversations ADD COLUMN is_direct INTEGER NOT NULL DEFAULT 0',
    `ALTER TABLE conversations ADD COLUMN pair_key ${key}`,
    'CREATE UNIQUE INDEX conversations_by_pair ON conversations (pair_key)',
    // JSON with the values that differ from the defaults.
    'ALTER TABLE conversations ADD COLUMN policy TEXT',
    // The settings of a participant for a conversation: NULL is the default. `muted_until`: an instant, or FOREVER.
    'ALTER TABLE participants ADD COLUMN level TEXT',
    'ALTER TABLE participants ADD COLUMN muted_until BIGINT',
    'ALTER TABLE participants ADD COLUMN archived INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE participants ADD COLUMN receipts INTEGER NOT NULL DEFAULT 1',
    // The unread notifications of kind `mention`, `mention_all` or `reply` in the conversation.
    'ALTER TABLE participants ADD COLUMN unread_mentions BIGINT NOT NULL DEFAULT 0',
    'CREATE INDEX participations_archived ON participants (user_id) WHERE archived = 1',
    // Whether the user's read markers are shown to others, and theirs to the user.
    'ALTER TABLE users ADD COLUMN receipts INTEGER NOT NULL DEFAULT 1',
  ],
}
