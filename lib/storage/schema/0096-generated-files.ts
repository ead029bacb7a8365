import type { Migration } from './migrations.ts'

/** Files that an assistant has made: 1. */
export const generatedFiles: Migration = {
  name: '0096-generated-files',
  statements: () => ['ALTER TABLE attachments ADD COLUMN generated INTEGER'],
}
