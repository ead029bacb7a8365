import { toInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Webhook, WebhookOfUser } from './schema.ts'
import type { WebhookDelivery } from './schema-deliveries.ts'
import type { WebhookRow } from './store.ts'
import { type DeliveryRow, toState } from './store-deliveries.ts'

/** What a webhook was not sent yet. */
export interface Unsent {
  /** Events that are sent again. */
  parked: number
  /** When the oldest one happened of all that wait; `undefined` without any. */
  oldest_at: Micros | undefined
}

/** A row as its owner reads it. */
export function toWebhook(row: WebhookRow, { parked, oldest_at = Infinity }: Unsent, now: Micros): Webhook {
  return {
    id: row.id,
    ...(row.user_id !== null && { user_id: row.user_id }),
    ...(row.bot_id !== null && { bot_id: row.bot_id }),
    url: row.url,
    types: JSON.parse(row.types),
    ...(row.conversation_id !== null && { conversation_id: row.conversation_id }),
    only: row.only_notified === 1 ? 'notified' : 'all',
    bots: row.bots === 1,
    order: row.event_order,
    parallel: row.parallel,
    payload: row.payload,
    ...(row.has_content === 1 && { content: true as const }),
    signature: row.signature,
    headers: JSON.parse(row.header_names),
    ...(row.description !== null && { description: row.description }),
    status: row.status,
    ...(row.disabled_reason !== null && { disabled_reason: row.disabled_reason }),
    position: row.position,
    lag_seconds: Math.max(0, now - oldest_at) / SECOND,
    parked,
    ...(row.public_key !== null && { public_key: row.public_key }),
    ...(row.last_success_at !== null && { last_success_at: toInstant(row.last_success_at) }),
    created_at: toInstant(row.created_at),
  }
}

/** A row as an administrator reads it. */
export function toWebhookOfUser(row: WebhookRow): WebhookOfUser {
  return {
    id: row.id,
    ...(row.user_id !== null && { user_id: row.user_id }),
    ...(row.bot_id !== null && { bot_id: row.bot_id }),
    host: row.host,
    status: row.status,
    ...(row.disabled_reason !== null && { disabled_reason: row.disabled_reason }),
    ...(row.last_success_at !== null && { last_success_at: toInstant(row.last_success_at) }),
    created_at: toInstant(row.created_at),
  }
}

/** A delivery as the owner of its webhook reads it. */
export function toDeliveryOfOwner(row: DeliveryRow): WebhookDelivery {
  const { attempts } = toState(row)
  return {
    id: row.id,
    event_id: row.event_id,
    type: row.type,
    at: toInstant(row.at),
    status: row.status,
    attempts: attempts.map(({ early: _, at, ...attempt }) => ({ at: toInstant(at), ...attempt })),
    ...(row.next_at !== null && { next_at: toInstant(row.next_at) }),
  }
}
