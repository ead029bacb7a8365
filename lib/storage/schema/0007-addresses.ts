import type { Migration } from './migrations.ts'

export const addresses: Migration = {
  name: '0007-addresses',
  statements: ({ key, lean }) => [
    // When the address was verified to belong to its user; NULL if it is not. Accounts older than this column count as
    // verified.
    'ALTER TABLE users ADD COLUMN email_verified_at BIGINT',
    'UPDATE users SET email_verified_at = created_at',
    // Mailed links that verify an address. `email_key`: the address the link was mailed to.
    `CREATE TABLE email_verifications (
      token_hash ${key} PRIMARY KEY,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      email_key ${key} NOT NULL,
      expires_at BIGINT NOT NULL)${lean}`,
    'CREATE INDEX email_verifications_of_user ON email_verifications (user_id, expires_at)',
    'CREATE INDEX email_verifications_by_expiry ON email_verifications (expires_at)',

    // `signups`: the uses that created an account. `refusals`: sign-ups refused because the address has an account, since
    // `refused_since`.
    'ALTER TABLE invites ADD COLUMN signups INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE invites ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE invites ADD COLUMN refused_since BIGINT NOT NULL DEFAULT 0',
    // Revokes invites of a user who loses the right to create them.
    'CREATE INDEX invites_of_maker ON invites (created_by, conversation_id) WHERE revoked_at IS NULL',
  ],
}
