import type { Migration } from './migrations.ts'

/** The newest answer of a thread is found past any number of messages of persons. */
export const answersByArrival: Migration = {
  name: '0101-answers-by-arrival',
  statements: () => ["CREATE INDEX answers_by_arrival ON messages (root_id, created_at) WHERE role = 'assistant'"],
}
