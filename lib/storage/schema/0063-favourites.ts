import type { Migration } from './migrations.ts'

/** Which conversations participants have among their favourites. */
export const favourites: Migration = {
  name: '0063-favourites',
  statements: () => [
    'ALTER TABLE participants ADD COLUMN favourite INTEGER NOT NULL DEFAULT 0',
    'CREATE INDEX favourites ON participants (user_id) WHERE favourite = 1',
  ],
}
