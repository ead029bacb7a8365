import { toInstant } from '../../core/time.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import type { DisabledWebhook } from './schema.ts'
import type { MadeNotification } from './store-making.ts'
import { insertOfService, type NewOfService } from './store-of-service.ts'

/** Tells a user in the inbox that the service has disabled a webhook of theirs. */
export function notifyOfWebhook(
  tx: Tx,
  { webhook, ...made }: Omit<NewOfService, 'webhook_id'> & { webhook: DisabledWebhook },
): void {
  tx.notify(make(tx, { ...made, webhook }))
}

async function make(
  tx: Tx,
  { id, user_id, at, webhook }: { id: string; user_id: string; at: Micros; webhook: DisabledWebhook },
): Promise<MadeNotification[]> {
  await insertOfService(tx, { id, user_id, at, webhook_id: webhook.id })
  // No setting of a conversation holds it back.
  const user = { user_id, level: null, muted_until: null, archived: 0 }
  return [{ notification: { id, kind: 'system', at: toInstant(at), webhook }, users: [user], shown: [] }]
}
