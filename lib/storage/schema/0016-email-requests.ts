import type { Migration } from './migrations.ts'

export const emailRequests: Migration = {
  name: '0016-email-requests',
  statements: ({ key, lean }) => [
    // What a mailed link will do, until it is used, revoked or expired. `kind`: `invite` a newcomer, `change` the address
    // of a user to `email`, `undo` such a change back to `email`. `roles`: those of a newcomer.
    `CREATE TABLE email_requests (
      id ${key} PRIMARY KEY,
      kind TEXT NOT NULL,
      user_id ${key} REFERENCES users ON DELETE CASCADE,
      email TEXT NOT NULL, email_key ${key} NOT NULL,
      roles TEXT,
      created_by ${key},
      created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL)`,
    'CREATE INDEX email_requests_of_user ON email_requests (user_id)',
    'CREATE INDEX email_requests_by_email ON email_requests (email_key)',
    'CREATE INDEX email_requests_by_expiry ON email_requests (expires_at)',
    // Each try to send the mail has a token of its own; only a digest is stored.
    `CREATE TABLE email_request_tokens (
      token_hash ${key} PRIMARY KEY,
      request_id ${key} NOT NULL REFERENCES email_requests ON DELETE CASCADE)${lean}`,
    'CREATE INDEX email_request_tokens_of_request ON email_request_tokens (request_id)',
  ],
}
