import type { Migration } from './migrations.ts'

/** When a process has last read what others send: one that does not, while another does, is not ready. */
export const heardAt: Migration = {
  name: '0040-heard-at',
  statements: (_, dialect) =>
    // On SQLite the table is in a file of its own.
    dialect === 'sqlite' ? [] : ['ALTER TABLE nodes ADD COLUMN heard_at BIGINT'],
}
