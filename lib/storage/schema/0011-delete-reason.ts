import type { Migration } from './migrations.ts'

export const deleteReason: Migration = {
  name: '0011-delete-reason',
  statements: () => [
    'ALTER TABLE messages ADD COLUMN delete_reason TEXT',
    // Erasing a user deletes the reasons the user gave.
    'CREATE INDEX messages_by_reasoner ON messages (deleted_by) WHERE delete_reason IS NOT NULL',
  ],
}
