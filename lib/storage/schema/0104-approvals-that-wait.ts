import type { Migration } from './migrations.ts'

/** Calls that wait for a decision are found by their conversation, past any number of those that were decided. */
export const approvalsThatWait: Migration = {
  name: '0104-approvals-that-wait',
  statements: () => [
    "CREATE INDEX approvals_that_wait ON tool_calls (conversation_id, approvers, id) WHERE approval = 'waiting'",
  ],
}
