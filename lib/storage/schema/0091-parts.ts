import type { Migration } from './migrations.ts'

/** Rows of an answer that are no text, with what its provider keeps with them, and the parts of an answer that has ended. */
export const parts: Migration = {
  name: '0091-parts',
  statements: () => [
    'ALTER TABLE message_chunks ADD COLUMN part TEXT',
    'ALTER TABLE message_chunks ADD COLUMN provider_data TEXT',
    'ALTER TABLE messages ADD COLUMN parts TEXT',
  ],
}
