import type { Migration } from './migrations.ts'

/**
 * What each user and each conversation stores. It is summed up in rounds: an administrator reads the sums of one that is
 * done, while a task makes those of the next.
 */
export const usageSums: Migration = {
  name: '0042-usage-sums',
  statements: ({ key, lean }) => [
    // `step` and `place`: how far the round is; they change with the sums, so that each row counts once.
    `CREATE TABLE usage_rounds (
      n BIGINT PRIMARY KEY,
      as_of BIGINT NOT NULL,
      step TEXT NOT NULL,
      place ${key} NOT NULL)`,
    // `kind`: `user` or `conversation`, which `key` is the id of. `total`: all bytes, in whose order they are listed.
    `CREATE TABLE usage_sums (
      n BIGINT NOT NULL,
      kind ${key} NOT NULL,
      key ${key} NOT NULL,
      files BIGINT NOT NULL,
      bytes BIGINT NOT NULL,
      released_bytes BIGINT NOT NULL,
      message_bytes BIGINT NOT NULL,
      total BIGINT NOT NULL,
      PRIMARY KEY (n, kind, key))${lean}`,
    'CREATE INDEX usage_sums_by_size ON usage_sums (n, kind, total, key)',
  ],
}
