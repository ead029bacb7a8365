import type { Migration } from './migrations.ts'

/** What a process notes of itself, as JSON: its host, and of each value of its configuration a keyed digest. */
export const nodeDetails: Migration = {
  name: '0041-node-details',
  statements: (_, dialect) =>
    // On SQLite the table is in a file of its own.
    dialect === 'sqlite' ? [] : ['ALTER TABLE nodes ADD COLUMN details TEXT'],
}
