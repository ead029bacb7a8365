import type { Migration } from './migrations.ts'

/** The uploads of a user that are under way are counted when another one begins, whatever files the user has. */
export const uploadsUnderWay: Migration = {
  name: '0026-uploads-under-way',
  statements: () => ["CREATE INDEX uploads_under_way ON attachments (uploaded_by) WHERE status = 'uploading'"],
}
