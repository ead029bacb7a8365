import type { Migration } from './migrations.ts'

/**
 * A search takes the display name of an author. The expression ignores the case of ASCII letters only, on both databases,
 * so a program that knows nothing of it keeps the index right.
 */
export const displayNames: Migration = {
  name: '0031-display-names',
  statements: (_, dialect) => [
    `CREATE INDEX users_by_display_name ON users (lower(display_name${dialect === 'postgresql' ? ' COLLATE "C"' : ''}))`,
  ],
}
