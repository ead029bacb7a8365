import type { Migration } from './migrations.ts'

/**
 * Notifications of kind `system`, which are about a webhook and in no conversation; and, beyond the position of a webhook, up to
 * where all is settled but some events, so that another process sends only those again.
 */
export const failingWebhooks: Migration = {
  name: '0102-failing-webhooks',
  statements: ({ key }) => [
    // Without a reference: archives and copies may lack the webhook. Such a notification is not shown.
    `ALTER TABLE notifications ADD COLUMN webhook_id ${key}`,
    "CREATE INDEX notifications_of_service ON notifications (user_id) WHERE kind = 'system' AND read_at IS NULL",
    'ALTER TABLE webhooks ADD COLUMN ahead TEXT',
  ],
}
