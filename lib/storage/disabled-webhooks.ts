import { newId } from '../core/ids.ts'
import { currentMicros } from '../core/time.ts'
import type { Queries } from './database.ts'
import { keyLives } from './live-keys.ts'
import { type Micros, type Sql, sql } from './sql.ts'

/** What a webhook is set to when it ends by no act of its owner. The process that sends for it finds its lease taken. */
export const toDisabled = (reason: 'key' | 'lockdown' | 'restored', now: Micros | null): Sql =>
  sql`status = 'disabled', disabled_reason = ${reason}, disabled_at = ${now}, writer = NULL, lease_expires_at = NULL`

/** What the audit log has of a webhook that is disabled. */
export interface DisabledWebhook {
  id: string
  host: string
  user_id: string | null
  bot_id: string | null
}

/** The details of that entry: the host alone, as the path of the URL may be a secret. */
export function endedDetail(reason: string, { host, user_id, bot_id }: DisabledWebhook) {
  const of = bot_id ?? user_id
  return { host, ...(of !== null && { user_id: of }), changed: ['status'], reason }
}

/**
 * Disables the webhooks whose API key, by which they were made, is expired or deleted. By webhooks_of_key.
 *
 * @param keyId the only key. Default: any
 */
export function disableOfLostKeys(tx: Queries, now: Micros, keyId?: string): Promise<DisabledWebhook[]> {
  const made = keyId === undefined ? sql`key_id IS NOT NULL` : sql`key_id = ${keyId}`
  return tx.all(
    sql`UPDATE webhooks SET ${toDisabled('key', now)}
      WHERE ${made} AND status <> 'disabled'
            AND NOT EXISTS (SELECT 1 FROM api_keys k WHERE k.id = webhooks.key_id AND ${keyLives(now)})
      RETURNING id, host, user_id, bot_id`,
  )
}

/** The enabled webhooks of a user and of the user's bots. By webhooks_of_user. */
export function listEnabledWebhooks(db: Queries, userId: string): Promise<DisabledWebhook[]> {
  return db.all(
    sql`SELECT id, host, user_id, bot_id FROM webhooks WHERE user_id = ${userId} AND status <> 'disabled' ORDER BY id`,
  )
}

/**
 * Disables the webhooks of a copy, which the original calls as well, and drops what waits to be sent again. A node logs the entries of
 * the audit log when it starts.
 *
 * @returns their number
 */
export async function disableRestored(tx: Queries): Promise<number> {
  await tx.run(sql`DELETE FROM webhook_deliveries WHERE status = 'pending'`)
  const disabled = await tx.all<DisabledWebhook>(
    sql`UPDATE webhooks SET ${toDisabled('restored', null)} WHERE status <> 'disabled'
      RETURNING id, host, user_id, bot_id`,
  )
  for (const webhook of disabled) {
    const detail = endedDetail('restored', webhook)
    await tx.run(
      sql`INSERT INTO audit_log (id, at, act, subject_id, detail, unlogged, about_id)
            VALUES (${newId()}, ${currentMicros()}, 'webhook.changed', ${webhook.id}, ${JSON.stringify(detail)}, 1,
                    ${detail.user_id ?? null})`,
    )
  }
  return disabled.length
}
