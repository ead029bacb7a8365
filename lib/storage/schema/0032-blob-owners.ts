import type { Migration } from './migrations.ts'

/**
 * Bytes that nothing refers to any more count for their uploader until they are deleted. A blob of a process of an
 * earlier version has no uploader: it counts while a file of the user has it.
 */
export const blobOwners: Migration = {
  name: '0032-blob-owners',
  statements: ({ key }) => [
    `ALTER TABLE blobs ADD COLUMN uploaded_by ${key}`,
    'CREATE INDEX blobs_of_user ON blobs (uploaded_by) WHERE uploaded_by IS NOT NULL',
  ],
}
