import type { Migration } from './migrations.ts'

/**
 * Where a process runs: one that starts on the same machine sees that another one has ended, whose streams then no
 * longer count. And when the oldest stream of a user whose client reads nothing was opened: a new one may replace it.
 */
export const processPlaces: Migration = {
  name: '0030-process-places',
  statements: (_, dialect) =>
    // On SQLite the tables are in a file of their own.
    dialect === 'sqlite'
      ? []
      : ['ALTER TABLE nodes ADD COLUMN place TEXT', 'ALTER TABLE node_presence ADD COLUMN stalled_at BIGINT'],
}
