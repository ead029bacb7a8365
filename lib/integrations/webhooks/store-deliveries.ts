import type { Cutoff } from '../../core/clock.ts'
import { DAY } from '../../core/units.ts'
import type { Queries } from '../../storage/database.ts'
import { among, type Micros, type Sql, sql, where } from '../../storage/sql.ts'
import type { DeliveryState, StoredAttempt } from './rules-schedule.ts'

/** An event that was sent to a webhook, or waits. It has no text of the event. */
export interface DeliveryRow {
  id: string
  webhook_id: string
  event_id: string
  type: string
  conversation_id: string | null
  /** Its number in the log. */
  event_number: number
  /** The position right after it. */
  position: string
  status: DeliveryState['status']
  /** JSON: {@link StoredAttempt}s. */
  attempts: string
  attempt_count: number
  next_at: Micros | null
  /** When it happened. */
  at: Micros
}

const COLUMNS = sql`id, webhook_id, event_id, type, conversation_id, event_number, position, status, attempts,
  attempt_count, next_at, at`

/** What an event is after its attempts. */
export function toState({ status, attempts, attempt_count, next_at }: DeliveryRow): DeliveryState {
  return { status, attempts: JSON.parse(attempts) as StoredAttempt[], attempt_count, next_at }
}

/** Stores what became of an event. By the unique key of webhook and event. */
export async function storeDelivery(tx: Queries, row: DeliveryRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO webhook_deliveries (${COLUMNS})
      VALUES (${row.id}, ${row.webhook_id}, ${row.event_id}, ${row.type}, ${row.conversation_id}, ${row.event_number},
              ${row.position}, ${row.status}, ${row.attempts}, ${row.attempt_count}, ${row.next_at}, ${row.at})
      ON CONFLICT (webhook_id, event_id) DO UPDATE
        SET status = excluded.status, attempts = excluded.attempts, attempt_count = excluded.attempt_count,
            next_at = excluded.next_at`,
  )
}

/** Up to `limit` events that are due again, the longest first. By webhook_deliveries_newest. */
export function listDueDeliveries(
  db: Queries,
  webhookId: string,
  { now, limit }: { now: Micros; limit: number },
): Promise<DeliveryRow[]> {
  return db.all<DeliveryRow>(
    sql`SELECT ${COLUMNS} FROM webhook_deliveries
      WHERE webhook_id = ${webhookId} AND status = 'pending' AND next_at <= ${now}
      ORDER BY next_at, event_number LIMIT ${limit}`,
  )
}

/** The events of these webhooks that wait, by webhook and conversation. By webhook_deliveries_newest. */
export function countPending(
  db: Queries,
  webhookIds: Iterable<string>,
): Promise<{ webhook_id: string; conversation_id: string | null; count: number }[]> {
  return db.all(
    sql`SELECT webhook_id, conversation_id, count(*) AS count FROM webhook_deliveries
      WHERE webhook_id ${among(db, webhookIds)} AND status = 'pending' GROUP BY webhook_id, conversation_id`,
  )
}

/** The webhooks with an event from before an instant that is sent again. By webhook_deliveries_due. */
export async function listLate(db: Queries, before: Micros): Promise<string[]> {
  const rows = await db.all<{ webhook_id: string }>(
    sql`SELECT DISTINCT d.webhook_id FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
      WHERE d.status = 'pending' AND d.at < ${before} AND w.status = 'active'`,
  )
  return rows.map(({ webhook_id }) => webhook_id)
}

/** The events that are sent again, of all webhooks: how many, and when the oldest one happened. By webhook_deliveries_due. */
export async function sumPending(db: Queries): Promise<{ parked: number; oldest_at: Micros | null }> {
  const row = await db.get<{ parked: number; oldest_at: Micros | null }>(
    sql`SELECT count(*) AS parked, min(d.at) AS oldest_at FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
      WHERE d.status = 'pending' AND w.status = 'active'`,
  )
  return row!
}

/** The events of a webhook that wait and have failed, the oldest first. By webhook_deliveries_newest. */
export function listFailed(
  db: Queries,
  webhookId: string,
): Promise<Pick<DeliveryRow, 'id' | 'attempts' | 'next_at'>[]> {
  return db.all(
    sql`SELECT id, attempts, next_at FROM webhook_deliveries
      WHERE webhook_id = ${webhookId} AND status = 'pending' AND attempt_count > 0 AND next_at IS NOT NULL
      ORDER BY event_number`,
  )
}

/** Has an event sent at an instant. By primary key. */
export async function setDue(tx: Queries, id: string, at: Micros): Promise<void> {
  await tx.run(sql`UPDATE webhook_deliveries SET next_at = ${at} WHERE id = ${id} AND status = 'pending'`)
}

/** Has the first event of a conversation sent that waits for one before it, if there is no other before it any more. */
export async function setNextDue(tx: Queries, webhookId: string, conversationId: string, at: Micros): Promise<void> {
  await tx.run(
    sql`UPDATE webhook_deliveries SET next_at = ${at}
      WHERE next_at IS NULL AND id = (
        SELECT id FROM webhook_deliveries
         WHERE webhook_id = ${webhookId} AND status = 'pending' AND conversation_id = ${conversationId}
         ORDER BY event_number LIMIT 1)`,
  )
}

/** By primary key. */
export async function deleteDelivery(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`DELETE FROM webhook_deliveries WHERE id = ${id}`)
}

/** Up to `limit` deliveries of a webhook, newest first. By webhook_deliveries_newest or the primary key. */
export function listDeliveries(
  db: Queries,
  webhookId: string,
  { status, after, limit }: { status?: DeliveryRow['status'] | undefined; after?: string | undefined; limit: number },
): Promise<DeliveryRow[]> {
  return db.all<DeliveryRow>(
    sql`SELECT ${COLUMNS} FROM webhook_deliveries
      ${where(
        sql`webhook_id = ${webhookId}`,
        status !== undefined && sql`status = ${status}`,
        after !== undefined && sql`id < ${after}`,
      )}
      ORDER BY id DESC LIMIT ${limit}`,
  )
}

/** A delivery of a webhook. By primary key. */
export function findDelivery(db: Queries, webhookId: string, id: string): Promise<DeliveryRow | undefined> {
  return db.get<DeliveryRow>(
    sql`SELECT ${COLUMNS} FROM webhook_deliveries WHERE id = ${id} AND webhook_id = ${webhookId}`,
  )
}

/** Whether the log has an event with this number. By primary key. */
export async function isInLog(db: Queries, number: number): Promise<boolean> {
  return (await db.get(sql`SELECT 1 AS found FROM events WHERE id = ${number}`)) !== undefined
}

/** Whether events were deleted because of their age, and when the first one happened that is left. By primary key. */
export async function findLogState(db: Queries): Promise<{ has_deleted: boolean; first_at: Micros | null }> {
  const row = await db.get<{ deleted: number; first_at: Micros | null }>(
    sql`SELECT (SELECT count(*) FROM meta WHERE name IN ('last_deleted_id', 'last_deleted_xid')) AS deleted,
            (SELECT created_at FROM events ORDER BY id LIMIT 1) AS first_at`,
  )
  return { has_deleted: row!.deleted > 0, first_at: row!.first_at }
}

/**
 * Deletes what waits of a webhook. By webhook_deliveries_newest.
 *
 * @param isUpTo the condition that the row `e` of the log is up to a place: only events after it. Default: all
 * @returns their number
 */
export function deletePending(tx: Queries, webhookId: string, isUpTo?: Sql): Promise<number> {
  const isAfter = isUpTo && sql`EXISTS (SELECT 1 FROM events e WHERE e.id = event_number AND NOT ${isUpTo})`
  return tx.run(
    sql`DELETE FROM webhook_deliveries ${where(sql`webhook_id = ${webhookId}`, sql`status = 'pending'`, isAfter)}`,
  )
}

/** How long deliveries are kept, and those that were given up. */
export const DELIVERED_AGE = 7 * DAY
const DEAD_AGE = 30 * DAY

/** How many of a webhook are kept. */
const MAX_KEPT = { delivered: 1_000, dead: 10_000 } as const

/** Deletes up to `limit` deliveries that are older, those that were given up somewhat later. By primary key. */
export function deleteOldDeliveries(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM webhook_deliveries WHERE id IN (
       SELECT id FROM webhook_deliveries
        WHERE id < ${firstIdAt(before)}
          AND (status = 'delivered' OR (status = 'dead' AND id < ${firstIdAt(before - (DEAD_AGE - DELIVERED_AGE))}))
        ORDER BY id LIMIT ${limit})`,
  )
}

/** The first 12 digits of an id are its time. */
function firstIdAt(at: Micros): string {
  const digits = Math.max(0, Math.floor(at / 1000))
    .toString(16)
    .padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}

/** Deletes what a webhook has too many of. By webhook_deliveries_newest. */
export async function trimDeliveries(tx: Queries, webhookId: string): Promise<void> {
  for (const [status, most] of Object.entries(MAX_KEPT))
    await tx.run(
      sql`DELETE FROM webhook_deliveries
        WHERE webhook_id = ${webhookId} AND status = ${status} AND id <= (
          SELECT id FROM webhook_deliveries WHERE webhook_id = ${webhookId} AND status = ${status}
           ORDER BY id DESC LIMIT 1 OFFSET ${most})`,
    )
}
