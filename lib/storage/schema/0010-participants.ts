import type { Migration } from './migrations.ts'

export const participants: Migration = {
  name: '0010-participants',
  // The order in which they are listed, page by page.
  statements: () => ['CREATE INDEX participants_by_joining ON participants (conversation_id, joined_at, user_id)'],
}
