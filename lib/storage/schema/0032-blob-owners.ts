import type { Migration } from './migrations.ts'

/**
 * What nothing refers to any more counts for the user who uploaded it, until its bytes are deleted. A blob of a process of
 * before has no user: it counts while a file of the user has it.
 */
export const blobOwners: Migration = {
  name: '0032-blob-owners',
  statements: ({ key }) => [
    `ALTER TABLE blobs ADD COLUMN uploaded_by ${key}`,
    'CREATE INDEX blobs_of_user ON blobs (uploaded_by) WHERE uploaded_by IS NOT NULL',
  ],
}
