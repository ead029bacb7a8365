import { byActor } from '../../accounts/audit/rules.ts'
import type { AuditAct } from '../../accounts/audit/schema.ts'
import type { Actor } from '../../core/actor.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { WebhookRow } from './store.ts'

/** Notes an act about a webhook: of its URL the host alone, as the path may be a secret. */
export function audit(
  tx: Tx,
  actor: Actor,
  act: Extract<AuditAct, `webhook.${string}`>,
  { id, host, user_id, bot_id }: Pick<WebhookRow, 'id' | 'host' | 'user_id' | 'bot_id'>,
  detail: Record<string, string | string[]> = {},
): void {
  const of = bot_id ?? user_id
  const named = of !== null && of !== actor.user_id && { user_id: of }
  tx.audit({ act, ...byActor(actor), subject_id: id, detail: { host, ...named, ...detail } })
}
