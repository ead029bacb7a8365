import type { Migration } from './migrations.ts'

/** The conversation of an earlier action: its subject, or named in its detail. */
const FIND_CONVERSATIONS = {
  sqlite: "json_extract(detail, '$.conversation_id')",
  postgresql: "detail::json ->> 'conversation_id'",
}

/** What the audit log has of an action beside actor and subject, and the order in which it is read. */
export const auditFacts: Migration = {
  name: '0035-audit-facts',
  statements: ({ key }, dialect) => [
    `ALTER TABLE audit_log ADD COLUMN conversation_id ${key}`,
    // Titles and names of keys, as JSON: they outlive what they name, and only the operator reads them.
    'ALTER TABLE audit_log ADD COLUMN names TEXT',
    // 1 for an act of the command line that no node has logged yet.
    'ALTER TABLE audit_log ADD COLUMN unlogged INTEGER',
    `UPDATE audit_log SET conversation_id = subject_id
      WHERE act IN ('conversation.deleted', 'conversation.policy_changed', 'invite.signed_up')`,
    `UPDATE audit_log SET conversation_id = ${FIND_CONVERSATIONS[dialect]} WHERE detail LIKE '%"conversation_id":"%'`,
    'CREATE INDEX audit_log_by_time ON audit_log (at, id)',
    'CREATE INDEX audit_log_of_subject ON audit_log (subject_id, at, id) WHERE subject_id IS NOT NULL',
    'CREATE INDEX audit_log_of_conversation ON audit_log (conversation_id, at, id) WHERE conversation_id IS NOT NULL',
    'CREATE INDEX audit_log_unlogged ON audit_log (at, id) WHERE unlogged = 1',
  ],
}
