import type { Migration } from './migrations.ts'

/** The conversations that an invited newcomer joins: ids, separated by commas. Without a reference: one may be deleted before. */
export const roomsOfInvites: Migration = {
  name: '0065-rooms-of-invites',
  statements: () => ['ALTER TABLE email_requests ADD COLUMN conversation_ids TEXT'],
}
