import type { Migration } from './migrations.ts'

/** The instant up to which signed tokens of a user are refused; and when the one was issued whose names are stored. */
export const signedTokens: Migration = {
  name: '0067-signed-tokens',
  statements: () => [
    'ALTER TABLE users ADD COLUMN tokens_after BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE identities ADD COLUMN claims_at BIGINT',
  ],
}
