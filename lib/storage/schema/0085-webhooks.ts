import type { Migration } from './migrations.ts'

/**
 * Addresses that are called with each event, and the calls that were made. Without `user_id` a webhook is the operator's, and
 * gets the events of all conversations; with `bot_id` those of the bot. `key_id` is the API key that has made it. Sealed are
 * `secret`, `previous_secret` and `headers`. All events before `position` are settled; `unverified_at` is since when the
 * address has not answered a challenge. A delivery has no text of an event: `event_number` is its row in the log, which is
 * composed again for each attempt.
 */
export const webhooks: Migration = {
  name: '0085-webhooks',
  statements: ({ key }) => [
    `CREATE TABLE webhooks (
      id ${key} PRIMARY KEY,
      user_id ${key} REFERENCES users (id) ON DELETE CASCADE,
      bot_id ${key} REFERENCES users (id) ON DELETE CASCADE,
      key_id ${key},
      url TEXT NOT NULL, host ${key} NOT NULL,
      types TEXT NOT NULL,
      conversation_id ${key} REFERENCES conversations (id) ON DELETE CASCADE,
      only_notified INTEGER NOT NULL DEFAULT 0,
      bots INTEGER NOT NULL DEFAULT 1,
      event_order TEXT NOT NULL DEFAULT 'none',
      parallel INTEGER NOT NULL DEFAULT 4,
      payload TEXT NOT NULL DEFAULT 'full',
      has_content INTEGER NOT NULL DEFAULT 0,
      signature TEXT NOT NULL DEFAULT 'v1',
      secret TEXT, previous_secret TEXT, rotated_at BIGINT,
      public_key TEXT,
      headers TEXT, header_names TEXT NOT NULL DEFAULT '[]',
      description TEXT,
      status TEXT NOT NULL,
      disabled_reason TEXT, disabled_at BIGINT,
      unverified_at BIGINT,
      position TEXT NOT NULL,
      gap TEXT,
      failing_since BIGINT, paused_until BIGINT, last_success_at BIGINT,
      last_failed INTEGER NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL,
      writer ${key}, lease_expires_at BIGINT)`,
    'CREATE INDEX webhooks_of_user ON webhooks (user_id) WHERE user_id IS NOT NULL',
    'CREATE INDEX webhooks_of_bot ON webhooks (bot_id) WHERE bot_id IS NOT NULL',
    'CREATE INDEX webhooks_of_key ON webhooks (key_id) WHERE key_id IS NOT NULL',
    'CREATE INDEX webhooks_of_conversation ON webhooks (conversation_id) WHERE conversation_id IS NOT NULL',
    'CREATE INDEX webhooks_by_status ON webhooks (status)',
    `CREATE TABLE webhook_deliveries (
      id ${key} PRIMARY KEY,
      webhook_id ${key} NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
      event_id ${key} NOT NULL,
      type TEXT NOT NULL,
      conversation_id ${key},
      event_number BIGINT NOT NULL,
      position TEXT NOT NULL,
      status TEXT NOT NULL,
      attempts TEXT NOT NULL DEFAULT '[]',
      attempt_count INTEGER NOT NULL DEFAULT 0,
      next_at BIGINT,
      at BIGINT NOT NULL,
      UNIQUE (webhook_id, event_id))`,
    'CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (webhook_id, status, id)',
    "CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at) WHERE status = 'pending'",
  ],
}
