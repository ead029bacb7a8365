import type { Migration } from './migrations.ts'

/**
 * Which conversations users see without participating. `visibility`: NULL is private. `title_key`: the title for comparison;
 * NULL in a row that an older program has stored, until the conversation is no longer private.
 */
export const publicRooms: Migration = {
  name: '0073-public-rooms',
  statements: () => [
    'ALTER TABLE conversations ADD COLUMN visibility TEXT',
    'ALTER TABLE conversations ADD COLUMN title_key TEXT',
    'CREATE INDEX directory ON conversations (title_key, id) WHERE visibility IS NOT NULL',
  ],
}
