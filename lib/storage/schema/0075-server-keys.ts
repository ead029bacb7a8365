import type { Migration } from './migrations.ts'

/** The keys of a host's servers, which act for users and as parts of the host. `scopes`: separated by commas. */
export const serverKeys: Migration = {
  name: '0075-server-keys',
  statements: ({ key }) => [
    `CREATE TABLE server_keys (
      id ${key} PRIMARY KEY,
      name TEXT NOT NULL,
      scopes TEXT NOT NULL,
      key_hash ${key} NOT NULL UNIQUE,
      created_at BIGINT NOT NULL, expires_at BIGINT, last_used_at BIGINT)`,
    `ALTER TABLE invites ADD COLUMN server_key_id ${key}`,
  ],
}
