import type { Migration } from './migrations.ts'

/**
 * Calls of tools, with what participants decide on them, and how far an answer with calls has come. A call that needs no
 * decision has no approval; its input and its output are whole, whatever readers of its answer get.
 */
export const tools: Migration = {
  name: '0095-tools',
  statements: ({ key, lean }) => [
    `CREATE TABLE tool_calls (
      id ${key} PRIMARY KEY,
      message_id ${key} NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
      conversation_id ${key} NOT NULL,
      user_id ${key},
      part_id INTEGER NOT NULL,
      step INTEGER NOT NULL,
      name ${key} NOT NULL,
      title TEXT,
      state ${key} NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0,
      input TEXT,
      output TEXT,
      error TEXT,
      requested_at BIGINT NOT NULL,
      approval ${key},
      approvers ${key},
      quorum INTEGER,
      not_asker INTEGER,
      by_keys INTEGER,
      expires_at BIGINT,
      decided_at BIGINT)`,
    'CREATE INDEX tool_calls_of_answer ON tool_calls (message_id)',
    'CREATE INDEX tool_calls_of_asker ON tool_calls (user_id) WHERE user_id IS NOT NULL',
    "CREATE INDEX approvals_of_asker ON tool_calls (user_id) WHERE approval = 'waiting'",
    'CREATE INDEX approvals_of_conversation ON tool_calls (conversation_id, id) WHERE approval IS NOT NULL',
    "CREATE INDEX approvals_waiting ON tool_calls (id) WHERE approval = 'waiting'",
    `CREATE TABLE approval_votes (
      id ${key} PRIMARY KEY,
      call_id ${key} NOT NULL REFERENCES tool_calls (id) ON DELETE CASCADE,
      user_id ${key},
      approve INTEGER NOT NULL,
      at BIGINT NOT NULL,
      reason TEXT)`,
    'CREATE INDEX votes_of_call ON approval_votes (call_id)',
    'CREATE UNIQUE INDEX votes_of_user ON approval_votes (user_id, call_id) WHERE user_id IS NOT NULL',
    // `attempts`: how often the model was asked for the step after `step`. `spent`: what the steps so far have used, as JSON; of that, tokens
    // and cost count for quotas while the answer waits.
    `CREATE TABLE answer_runs (
      message_id ${key} PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
      step INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      ran_ms BIGINT NOT NULL,
      spent TEXT NOT NULL,
      tokens BIGINT NOT NULL,
      micros BIGINT NOT NULL)${lean}`,
  ],
}
