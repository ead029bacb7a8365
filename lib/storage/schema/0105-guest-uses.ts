import type { Migration } from './migrations.ts'

/** When a guest was last seen, whatever it called with, also once its session has ended: to the hour. */
export const guestUses: Migration = {
  name: '0105-guest-uses',
  statements: () => ['ALTER TABLE users ADD COLUMN used_at BIGINT'],
}
