import type { Migration } from './migrations.ts'

/**
 * Photos that users set: `avatar_url` is the path of one, whose last part is the id of its bytes. The index finds the user of
 * bytes; the addresses that hosts have are not in it.
 */
export const ownAvatars: Migration = {
  name: '0057-own-avatars',
  statements: () => [
    'ALTER TABLE users ADD COLUMN avatar_type TEXT',
    "CREATE INDEX users_by_own_avatar ON users (avatar_url) WHERE substr(avatar_url, 1, 1) = '/'",
  ],
}
