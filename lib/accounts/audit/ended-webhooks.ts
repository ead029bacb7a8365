import { type DisabledWebhook, endedDetail } from '../../storage/disabled-webhooks.ts'
import type { AuditEntry } from './store.ts'

/** The entry of a webhook that is disabled by no act on it. */
export function webhookEnded(reason: string, webhook: DisabledWebhook): AuditEntry {
  return { act: 'webhook.changed', subject_id: webhook.id, detail: endedDetail(reason, webhook) }
}
