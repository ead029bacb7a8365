import type { Queries } from './database.ts'
import { keyLives } from './live-keys.ts'
import { type Micros, type Sql, sql } from './sql.ts'

/** What a webhook is set to when it ends by no act of its owner. The process that sends for it finds its lease taken. */
export const toDisabled = (reason: 'key' | 'lockdown' | 'restored', now: Micros | null): Sql =>
  sql`status = 'disabled', disabled_reason = ${reason}, disabled_at = ${now}, writer = NULL, lease_expires_at = NULL`

/**
 * Disables the webhooks whose API key, by which they were made, is expired or deleted. By webhooks_of_key.
 *
 * @param keyId the only key. Default: any
 * @returns their number
 */
export function disableOfLostKeys(tx: Queries, now: Micros, keyId?: string): Promise<number> {
  const made = keyId === undefined ? sql`key_id IS NOT NULL` : sql`key_id = ${keyId}`
  return tx.run(
    sql`UPDATE webhooks SET ${toDisabled('key', now)}
      WHERE ${made} AND status <> 'disabled'
            AND NOT EXISTS (SELECT 1 FROM api_keys k WHERE k.id = webhooks.key_id AND ${keyLives(now)})`,
  )
}

/**
 * Disables the webhooks of a copy, which the original calls as well, and drops what waits to be sent again.
 *
 * @returns their number
 */
export async function disableRestored(tx: Queries): Promise<number> {
  await tx.run(sql`DELETE FROM webhook_deliveries WHERE status = 'pending'`)
  return tx.run(sql`UPDATE webhooks SET ${toDisabled('restored', null)} WHERE status <> 'disabled'`)
}
