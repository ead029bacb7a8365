import type { Migration } from './migrations.ts'

/** How far the clock of each node's machine is behind the database's: another node can see which of them is wrong. */
export const clock: Migration = {
  name: '0037-clock',
  statements: (_, dialect) =>
    // On SQLite the table is in a file of its own, and all processes have the same clock.
    dialect === 'sqlite' ? [] : ['ALTER TABLE nodes ADD COLUMN clock_difference BIGINT'],
}
