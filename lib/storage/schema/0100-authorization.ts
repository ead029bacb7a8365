import type { Migration } from './migrations.ts'

/**
 * What users allow applications, by the authorization server.
 *
 * A grant begins with a code (`code_expires_at` is set until it is used). `family_hash` is the digest of what all its refresh
 * tokens have in common, and `refresh_tokens` the digests of those that are valid, with how often one that was replaced was used
 * since: a token of the family that is not among them was replaced before. Access tokens are keys with a grant, which end with it.
 *
 * `oauth_clients`: the applications, with what their own documents say (`kind` `document`), or the operator, or they themselves
 * at their registration. `oauth_assertions`: the digests of the statements by which clients have proved who they are, as each
 * counts once.
 */
export const authorization: Migration = {
  name: '0100-authorization',
  statements: ({ key, lean }) => [
    `CREATE TABLE grants (
      id ${key} PRIMARY KEY,
      user_id ${key} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      client_id ${key} NOT NULL,
      client_name TEXT NOT NULL,
      client_host TEXT NOT NULL,
      scopes TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      last_used_at BIGINT NOT NULL,
      code_hash ${key} NOT NULL UNIQUE,
      code_expires_at BIGINT,
      redirect_uri TEXT NOT NULL,
      code_challenge TEXT NOT NULL,
      family_hash ${key} UNIQUE,
      refresh_tokens TEXT NOT NULL)`,
    'CREATE INDEX grants_of_user ON grants (user_id)',
    'CREATE INDEX grants_by_use ON grants (last_used_at)',
    'CREATE INDEX grants_by_age ON grants (created_at)',
    'CREATE INDEX grants_of_client ON grants (client_id)',
    'CREATE INDEX grants_by_code ON grants (code_expires_at) WHERE code_expires_at IS NOT NULL',
    `ALTER TABLE api_keys ADD COLUMN grant_id ${key} REFERENCES grants (id) ON DELETE CASCADE`,
    'ALTER TABLE api_keys ADD COLUMN audience TEXT',
    'ALTER TABLE api_keys ADD COLUMN scopes TEXT',
    'CREATE INDEX api_keys_of_grant ON api_keys (grant_id) WHERE grant_id IS NOT NULL',
    `CREATE TABLE oauth_clients (
      id ${key} PRIMARY KEY,
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      redirect_uris TEXT NOT NULL,
      auth_methods TEXT NOT NULL,
      jwks_uri TEXT,
      created_at BIGINT NOT NULL,
      last_used_at BIGINT NOT NULL,
      fetched_at BIGINT,
      fresh_until BIGINT)`,
    'CREATE INDEX oauth_clients_by_kind ON oauth_clients (kind, last_used_at)',
    `CREATE TABLE oauth_assertions (
      jti_hash ${key} PRIMARY KEY,
      expires_at BIGINT NOT NULL)${lean}`,
    'CREATE INDEX oauth_assertions_by_expiry ON oauth_assertions (expires_at)',
  ],
}
