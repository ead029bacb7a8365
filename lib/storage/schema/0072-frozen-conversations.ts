import type { Migration } from './migrations.ts'

/** Since when nothing can be added to a conversation or changed in it; NULL is not frozen. */
export const frozenConversations: Migration = {
  name: '0072-frozen-conversations',
  statements: () => ['ALTER TABLE conversations ADD COLUMN frozen_at BIGINT'],
}
