import type { Migration } from './migrations.ts'

/** What changes when a conversation comes back from a copy: the ids of its events from before are of another history. */
export const conversationSalt: Migration = {
  name: '0036-conversation-salt',
  statements: ({ key }) => [`ALTER TABLE conversations ADD COLUMN salt ${key}`],
}
