import type { Migration } from './migrations.ts'

/** The title of a thread: NULL is none. It belongs to the text of the root, and is erased with it. */
export const threadTitles: Migration = {
  name: '0045-thread-titles',
  statements: () => ['ALTER TABLE threads ADD COLUMN title TEXT'],
}
