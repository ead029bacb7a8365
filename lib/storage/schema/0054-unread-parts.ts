import type { Migration } from './migrations.ts'

/**
 * The parts of what is unread in a conversation. NULL: not counted yet; older processes leave it so, and change neither
 * part. `counted_seq`: the `last_seq` up to which the roots and the replies that followers get are counted. The seen roots and
 * the seen replies are together `seen_count`, unless an older process has changed that.
 */
export const unreadParts: Migration = {
  name: '0054-unread-parts',
  statements: () => [
    'ALTER TABLE conversations ADD COLUMN root_count BIGINT',
    'ALTER TABLE conversations ADD COLUMN counted_seq BIGINT',
    'ALTER TABLE participants ADD COLUMN seen_roots BIGINT',
    'ALTER TABLE participants ADD COLUMN seen_replies BIGINT',
    // Unread replies that arrived since the participant follows their thread; 0 in direct conversations.
    'ALTER TABLE participants ADD COLUMN followed_unread BIGINT',
    // A reply reads the followers of its thread, and not the members who only read it.
    'CREATE INDEX followers ON thread_members (root_id, user_id) WHERE followed_at IS NOT NULL',
  ],
}
