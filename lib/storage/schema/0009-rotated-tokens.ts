import type { Migration } from './migrations.ts'

export const rotatedTokens: Migration = {
  name: '0009-rotated-tokens',
  statements: ({ key, lean }) => [
    // Tokens that a session had before a refresh, as digests: a replaced token that is used again was copied.
    `CREATE TABLE rotated_tokens (
      token_hash ${key} PRIMARY KEY,
      session_id ${key} NOT NULL REFERENCES sessions ON DELETE CASCADE,
      rotated_at BIGINT NOT NULL)${lean}`,
    'CREATE INDEX rotated_tokens_of_session ON rotated_tokens (session_id, rotated_at)',
  ],
}
