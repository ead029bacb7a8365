import type { Migration } from './migrations.ts'

/**
 * What a user is: a person, or a guest, who has no sign-in; guests are counted, and the unused ones are found, by an index of
 * their own. A merge keeps the digest of the token by which a guest was claimed: the same claim again returns the same.
 */
export const guests: Migration = {
  name: '0074-guests',
  statements: ({ key }) => [
    "ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'person'",
    "CREATE INDEX guests ON users (id) WHERE kind = 'guest'",
    `ALTER TABLE merged_users ADD COLUMN token_hash ${key}`,
    'CREATE INDEX merged_users_by_token ON merged_users (token_hash) WHERE token_hash IS NOT NULL',
  ],
}
