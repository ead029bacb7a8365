import type { Migration } from './migrations.ts'

/**
 * Files whose bytes were lost keep the id of these, so that they come back with them. And whether a process sees the storage
 * of files: a disk may be mounted on some machines only.
 */
export const lostFiles: Migration = {
  name: '0038-lost-files',
  statements: (_, dialect) => [
    // `lost_at`: when a repair has marked the file as gone; `lost_status`: what it was before.
    'ALTER TABLE attachments ADD COLUMN lost_at BIGINT',
    'ALTER TABLE attachments ADD COLUMN lost_status TEXT',
    'CREATE INDEX lost_attachments ON attachments (blob_id) WHERE lost_at IS NOT NULL AND blob_id IS NOT NULL',
    // On SQLite the table is in a file of its own.
    ...(dialect === 'sqlite' ? [] : ['ALTER TABLE nodes ADD COLUMN files TEXT']),
  ],
}
