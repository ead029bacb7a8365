import type { Migration } from './migrations.ts'

export const addresses: Migration = {
  name: '0007-addresses',
  statements: ({ key, lean }) => [
    // When the address was proven to belong to its user; NULL while it is not. Accounts that are older than this column
    // count as proven.
    'ALTER TABLE users ADD COLUMN email_verified_at BIGINT',
    'UPDATE users SET email_verified_at = created_at',
    // Mailed links that prove an address. `email_key`: the address the link was mailed to.
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
    // Revokes what a user made when the user loses the right to it.
    'CREATE INDEX invites_of_maker ON invites (created_by, conversation_id) WHERE revoked_at IS NULL',
  ],
}
