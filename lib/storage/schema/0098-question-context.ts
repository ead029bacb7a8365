import type { Migration } from './migrations.ts'

/** What a program told the assistant before its question, as JSON. */
export const questionContext: Migration = {
  name: '0098-question-context',
  statements: () => ['ALTER TABLE messages ADD COLUMN context TEXT'],
}
