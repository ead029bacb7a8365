import type { Migration } from './migrations.ts'

/**
 * How pages show a conversation, what it is about, and its emoji. `layout`: NULL in a conversation of a process that knows
 * no layouts, until one is chosen, and in direct ones. `topic`, `icon`: NULL is none.
 */
export const layouts: Migration = {
  name: '0044-layouts',
  statements: () => [
    'ALTER TABLE conversations ADD COLUMN layout TEXT',
    'ALTER TABLE conversations ADD COLUMN topic TEXT',
    'ALTER TABLE conversations ADD COLUMN icon TEXT',
  ],
}
