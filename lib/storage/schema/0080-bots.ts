import type { Migration } from './migrations.ts'

/**
 * Programs of users: each is a user of the kind `bot`, with an owner. The owner is no foreign key: an archive has users in the
 * order of their ids, and the owner may be younger. `disabled_by_owner` is 1 while the owner has disabled the bot: what an
 * administrator has disabled, only an administrator enables. The kind of an author is found by an index of those who are no
 * persons.
 */
export const bots: Migration = {
  name: '0080-bots',
  statements: ({ key }) => [
    `ALTER TABLE users ADD COLUMN owner_id ${key}`,
    'ALTER TABLE users ADD COLUMN description TEXT',
    'ALTER TABLE users ADD COLUMN disabled_by_owner INTEGER NOT NULL DEFAULT 0',
    'CREATE INDEX bots_of_owner ON users (owner_id) WHERE owner_id IS NOT NULL',
    "CREATE INDEX kinds_of_users ON users (id, kind) WHERE kind <> 'person'",
  ],
}
