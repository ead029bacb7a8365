import type { Migration } from './migrations.ts'

export const systemConversations: Migration = {
  name: '0018-system-conversations',
  statements: ({ key }) => [
    // The system user that has created it: such a conversation needs no owner among its participants, and may have none.
    `ALTER TABLE conversations ADD COLUMN system_id ${key}`,
  ],
}
