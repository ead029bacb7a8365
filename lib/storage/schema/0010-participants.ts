import type { Migration } from './migrations.ts'

export const participants: Migration = {
  name: '0010-participants',
  // The order of the list of participants, for its pages.
  statements: () => ['CREATE INDEX participants_by_joining ON participants (conversation_id, joined_at, user_id)'],
}
