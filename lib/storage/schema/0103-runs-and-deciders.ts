import type { Migration } from './migrations.ts'

/**
 * The metadata that earlier steps have given an answer, for the process that goes on with it or ends it; and owners and admins of a
 * conversation are found past any number of members.
 */
export const runsAndDeciders: Migration = {
  name: '0103-runs-and-deciders',
  statements: () => [
    'ALTER TABLE answer_runs ADD COLUMN metadata TEXT',
    "CREATE INDEX participants_managing ON participants (conversation_id, user_id) WHERE role IN ('owner', 'admin')",
  ],
}
