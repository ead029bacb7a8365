import type { Tx } from '../../live/transaction/transaction.ts'
import { disableOfLostKeys } from '../../storage/disabled-webhooks.ts'
import type { Micros } from '../../storage/sql.ts'
import { webhookEnded } from '../audit/ended-webhooks.ts'
import type { AuditActor } from '../audit/store.ts'

/**
 * Disables the webhooks that were made with API keys that are expired or deleted, and notes each in the audit log.
 *
 * @param keyId the only key. Default: any
 * @param by the actor that has deleted it
 */
export async function endWebhooksOfKeys(
  tx: Tx,
  now: Micros,
  { keyId, by }: { keyId?: string; by?: AuditActor } = {},
): Promise<void> {
  for (const webhook of await disableOfLostKeys(tx, now, keyId)) tx.audit({ ...webhookEnded('key', webhook), ...by })
}
