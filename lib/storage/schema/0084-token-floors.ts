import type { Migration } from './migrations.ts'

/**
 * Up to which instant the signed tokens of a person of the host's are refused whose user was erased or merged: by the digest
 * of the host's own id, as the id itself is erased. Retention deletes the rows by the instant.
 */
export const tokenFloors: Migration = {
  name: '0084-token-floors',
  statements: ({ key, lean }) => [
    `CREATE TABLE token_floors (
      subject_hash ${key} PRIMARY KEY,
      tokens_after BIGINT NOT NULL)${lean}`,
    'CREATE INDEX token_floors_by_instant ON token_floors (tokens_after)',
  ],
}
