import type { Migration } from './migrations.ts'

/** The address of a photo that the host has for a user: NULL is none. */
export const avatars: Migration = {
  name: '0053-avatars',
  statements: () => ['ALTER TABLE users ADD COLUMN avatar_url TEXT'],
}
