import type { Dialect } from '../database.ts'
import type { Migration } from './migrations.ts'

export const confirmation: Migration = {
  name: '0008-confirmation',
  statements: ({ key }, dialect) => [
    // When the user of a session last authenticated: by signing in, or by confirming the password.
    'ALTER TABLE sessions ADD COLUMN confirmed_at BIGINT NOT NULL DEFAULT 0',
    'UPDATE sessions SET confirmed_at = issued_at',
    // The id of an identity in URLs, so that none contains the provider's id of the user.
    `ALTER TABLE identities ADD COLUMN id ${key} NOT NULL DEFAULT ''`,
    `UPDATE identities SET id = ${NEW_ID[dialect]}`,
    'CREATE UNIQUE INDEX identities_by_id ON identities (id)',
  ],
}

/** A UUIDv7 of the instant in `created_at`, otherwise random; a new one for each row. */
const NEW_ID: Record<Dialect, string> = {
  sqlite: `printf('%s-%s-7%s-%s%s-%s',
    substr(printf('%012x', created_at / 1000), 1, 8), substr(printf('%012x', created_at / 1000), 9),
    substr(lower(hex(randomblob(2))), 2), substr('89ab', 1 + (random() & 3), 1), substr(lower(hex(randomblob(2))), 2),
    lower(hex(randomblob(6))))`,
  postgresql: `overlay(overlay(gen_random_uuid()::text
    placing substr(lpad(to_hex(created_at / 1000), 12, '0'), 1, 8) from 1)
    placing substr(lpad(to_hex(created_at / 1000), 12, '0'), 9) || '-7' from 10 for 6)`,
}
