import type { Migration } from './migrations.ts'

/** Where the last backup was stored: if it is not there any more, the next one does not start again on another disk. */
export const backupPlace: Migration = {
  name: '0039-backup-place',
  statements: () => ['ALTER TABLE schedules ADD COLUMN target TEXT'],
}
