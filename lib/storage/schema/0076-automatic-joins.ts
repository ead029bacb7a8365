import type { Migration } from './migrations.ts'

/** Which new users join a conversation by themselves: `members` or `everyone`; NULL is none. */
export const automaticJoins: Migration = {
  name: '0076-automatic-joins',
  statements: () => [
    'ALTER TABLE conversations ADD COLUMN auto_join TEXT',
    'CREATE INDEX automatic_joins ON conversations (id) WHERE auto_join IS NOT NULL',
  ],
}
