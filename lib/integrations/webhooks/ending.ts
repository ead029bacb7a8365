import { webhookEnded } from '../../accounts/audit/ended-webhooks.ts'
import { findUser } from '../../accounts/users/store.ts'
import { notifyOfWebhook } from '../../chat/notifications/of-service.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Addressed, MailOrder } from '../../mail/queue.ts'
import type { DisabledReason } from './schema.ts'
import { disableWebhook, findWebhook, type WebhookRow } from './store.ts'

/** Why the service itself ends the sending of a webhook. */
export type EndReason = Extract<DisabledReason, 'gone' | 'failing' | 'secret_lost'>

/** What has happened, in the mail of the owner. Of lost secrets the operator is told. */
const EVENTS: Partial<Record<DisabledReason, string>> = {
  gone: 'its receiver answered that it wants no events any more (410)',
  failing: 'no call has succeeded for five days',
}

/** Disables a webhook, notes it in the audit log, and tells its owner by mail, of one that fails also in the inbox. */
export async function endWebhook(
  { id, mail, now }: Pick<Context, 'id' | 'mail' | 'now'>,
  tx: Tx,
  row: WebhookRow,
  reason: EndReason,
): Promise<void> {
  const at = now()
  if (!(await disableWebhook(tx, row.id, { reason, at }))) return
  tx.audit(webhookEnded(reason, row))
  if (row.user_id !== null && reason === 'failing')
    notifyOfWebhook(tx, { id: id(), user_id: row.user_id, at, webhook: { id: row.id, host: row.host } })
  if (row.user_id !== null && EVENTS[reason])
    await mail.outbox?.add(tx, { mail: 'webhook_disabled', user_id: row.user_id, webhook: row.id })
}

/** The owner of a webhook that was disabled, unless it is enabled again, or the user has no verified address. */
export async function addressDisabled(
  { db }: Pick<Context, 'db'>,
  { user_id, webhook = '' }: MailOrder,
): Promise<Addressed | undefined> {
  const row = await findWebhook(db, webhook, { user_id })
  const event = row?.status === 'disabled' && EVENTS[row.disabled_reason!]
  const user = event ? await findUser(db, user_id) : undefined
  if (!row || !event || !user || user.email_verified_at === null || user.disabled_at !== null) return undefined
  return { to: user.email, username: user.username, values: { link: '', host: row.host, event } }
}
