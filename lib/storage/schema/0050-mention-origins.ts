import type { Migration } from './migrations.ts'

/**
 * What the mentions of a message come from, as JSON: the names of its text, with the ids of their users, and the ids that its
 * author named. NULL for a text without names, and for messages that earlier versions stored.
 */
export const mentionOrigins: Migration = {
  name: '0050-mention-origins',
  statements: () => ['ALTER TABLE messages ADD COLUMN mention_origins TEXT'],
}
