import type { Migration } from './migrations.ts'

/**
 * The messages of a conversation in the order of their arrival. A message is in one of the first two indexes, so a post
 * costs one entry; both together are the whole conversation. A thread is `messages_by_arrival`, which has its live
 * messages, together with the third.
 */
export const arrivals: Migration = {
  name: '0046-arrivals',
  statements: () => [
    'CREATE INDEX roots_by_arrival ON messages (conversation_id, created_at) WHERE parent_id IS NULL',
    'CREATE INDEX replies_by_arrival ON messages (conversation_id, created_at) WHERE parent_id IS NOT NULL',
    'CREATE INDEX deleted_by_arrival ON messages (root_id, created_at) WHERE deleted_at IS NOT NULL',
  ],
}
