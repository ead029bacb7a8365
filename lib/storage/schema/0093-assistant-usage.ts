import type { Migration } from './migrations.ts'

/**
 * What answers of the assistant have used. Entries and sums refer to nothing, so that they outlive messages, conversations
 * and users. A sum is of a UTC day or month, by `dimension`: of all, or of a user, an assistant, a model or a conversation.
 * Quotas are by the id of their user. An answer in progress has a part of its user's quota reserved.
 */
export const assistantUsage: Migration = {
  name: '0093-assistant-usage',
  statements: ({ key, lean }) => [
    // `at`: when the question was asked, by which it belongs to a day and a month.
    `CREATE TABLE usage_entries (
      message_id ${key} NOT NULL,
      kind ${key} NOT NULL,
      at BIGINT NOT NULL,
      user_id ${key},
      conversation_id ${key} NOT NULL,
      assistant ${key} NOT NULL,
      model ${key} NOT NULL,
      steps BIGINT NOT NULL,
      prompt_tokens BIGINT NOT NULL,
      completion_tokens BIGINT NOT NULL,
      cached_tokens BIGINT NOT NULL,
      reasoning_tokens BIGINT NOT NULL,
      cost_micros BIGINT NOT NULL,
      estimated INTEGER NOT NULL,
      PRIMARY KEY (message_id, kind))`,
    'CREATE INDEX usage_entries_by_age ON usage_entries (at)',
    'CREATE INDEX usage_entries_of_user ON usage_entries (user_id) WHERE user_id IS NOT NULL',
    `CREATE TABLE usage_totals (
      dimension ${key} NOT NULL,
      unit ${key} NOT NULL,
      starts_at BIGINT NOT NULL,
      key ${key} NOT NULL,
      answers BIGINT NOT NULL,
      prompt_tokens BIGINT NOT NULL,
      completion_tokens BIGINT NOT NULL,
      cached_tokens BIGINT NOT NULL,
      cost_micros BIGINT NOT NULL,
      PRIMARY KEY (dimension, unit, starts_at, key))${lean}`,
    'CREATE INDEX usage_totals_by_age ON usage_totals (starts_at)',
    "CREATE INDEX usage_totals_of_user ON usage_totals (key) WHERE dimension = 'user'",
    `CREATE TABLE usage_quotas (
      id ${key} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      limits TEXT NOT NULL)`,
    'ALTER TABLE answers_under_way ADD COLUMN reserved_tokens BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE answers_under_way ADD COLUMN reserved_micros BIGINT NOT NULL DEFAULT 0',
  ],
}
