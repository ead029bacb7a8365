import type { Queries } from '../../storage/database.ts'
import { keyLives } from '../../storage/live-keys.ts'
import { among, databaseNow, type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { WebhookRow } from './store.ts'

/** How long a process that dies keeps the webhooks for which it sends. */
const LEASE: Micros = 10_000_000

/** What decides which events concern a webhook, and how far it has come. */
export type RoutedRow = Pick<WebhookRow, 'id' | 'user_id' | 'bot_id' | 'types' | 'conversation_id' | 'position'> & {
  /** The process that sends for it, if one does. */
  writer: string | null
  /** 1 if that process has died, or drains. */
  is_lapsed: number
}

/** The webhooks that are sent events. By webhooks_by_status. */
export function listActive(db: Queries): Promise<RoutedRow[]> {
  return db.all<RoutedRow>(
    sql`SELECT id, user_id, bot_id, types, conversation_id, position, writer,
          CASE WHEN lease_expires_at < ${databaseNow(db.dialect)} THEN 1 ELSE 0 END AS is_lapsed
        FROM webhooks WHERE status = 'active'`,
  )
}

/** Takes the webhooks among these for which no process sends. By primary key. @returns their ids */
export async function claimWebhooks(tx: Queries, writer: string, ids: Iterable<string>): Promise<string[]> {
  const now = databaseNow(tx.dialect)
  const rows = await tx.all<{ id: string }>(
    sql`UPDATE webhooks SET writer = ${writer}, lease_expires_at = ${now} + ${LEASE}
      WHERE id ${among(tx, ids)} AND status = 'active'
        AND (writer IS NULL OR writer = ${writer} OR lease_expires_at < ${now})
     RETURNING id`,
  )
  return rows.map(({ id }) => id)
}

/** Prolongs the leases of this process. @returns the webhooks that it still has */
export async function renewWebhooks(tx: Queries, writer: string, ids: Iterable<string>): Promise<Set<string>> {
  const rows = await tx.all<{ id: string }>(
    sql`UPDATE webhooks SET lease_expires_at = ${databaseNow(tx.dialect)} + ${LEASE}
      WHERE id ${among(tx, ids)} AND writer = ${writer} RETURNING id`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Ends the leases of webhooks that have nothing to send. */
export async function releaseWebhooks(tx: Queries, writer: string, ids: Iterable<string>): Promise<void> {
  await tx.run(
    sql`UPDATE webhooks SET writer = NULL, lease_expires_at = NULL WHERE id ${among(tx, ids)} AND writer = ${writer}`,
  )
}

/** Lets the leases of webhooks lapse that have more to send: another process takes them over. */
export async function lapseWebhooks(tx: Queries, writer: string, ids: Iterable<string>): Promise<void> {
  await tx.run(sql`UPDATE webhooks SET lease_expires_at = 0 WHERE id ${among(tx, ids)} AND writer = ${writer}`)
}

/** The webhooks whose process has died, or that have an event to send again for which no other process cares. */
export async function listWaitingWebhooks(db: Queries, writer: string, now: Micros): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    sql`SELECT id FROM webhooks WHERE status = 'active' AND lease_expires_at < ${databaseNow(db.dialect)}
     UNION
     SELECT w.id FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
      WHERE d.status = 'pending' AND d.next_at <= ${now} AND w.status = 'active'
        AND (w.writer IS NULL OR w.writer = ${writer})`,
  )
  return rows.map(({ id }) => id)
}

/** The webhooks among these for which no process sends. By primary key. */
export async function listFree(db: Queries, ids: Iterable<string>): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    sql`SELECT id FROM webhooks WHERE id ${among(db, ids)} AND status = 'active' AND writer IS NULL`,
  )
  return rows.map(({ id }) => id)
}

/** Moves webhooks on for which no process sends, and that stand at a position after which none of their events came. */
export async function movePositions(
  tx: Queries,
  ids: Iterable<string>,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await tx.run(
    sql`UPDATE webhooks SET position = ${to}
      WHERE id ${among(tx, ids)} AND position = ${from} AND status = 'active' AND writer IS NULL`,
  )
}

/** Whether this process still sends for a webhook, whose owner, bot and API key have not ended. By primary keys. */
export async function isHeld(db: Queries, writer: string, id: string, now: Micros): Promise<boolean> {
  const row = await db.get<{ found: number }>(
    sql`SELECT 1 AS found FROM webhooks w
      WHERE w.id = ${id} AND w.writer = ${writer} AND w.status = 'active'
        AND NOT EXISTS (
          SELECT 1 FROM users u WHERE (u.id = w.user_id OR u.id = w.bot_id) AND u.disabled_at IS NOT NULL)
        AND (w.key_id IS NULL OR EXISTS (SELECT 1 FROM api_keys k WHERE k.id = w.key_id AND ${keyLives(now)}))`,
  )
  return row !== undefined
}

/** What sending has changed of a webhook. */
export type SendingState = Pick<
  WebhookRow,
  'position' | 'ahead' | 'gap' | 'failing_since' | 'paused_until' | 'last_success_at' | 'last_failed'
>

/** Stores how far a webhook has come. @returns false if another process sends for it, or its owner has changed it */
export async function updateSending(tx: Queries, writer: string, id: string, state: SendingState): Promise<boolean> {
  const count = await tx.run(
    sql`UPDATE webhooks SET position = ${state.position}, ahead = ${state.ahead}, gap = ${state.gap},
          failing_since = ${state.failing_since}, paused_until = ${state.paused_until}, last_success_at = ${state.last_success_at},
          last_failed = ${state.last_failed}
      WHERE id = ${id} AND writer = ${writer} AND status = 'active'`,
  )
  return count > 0
}

/** The ones of these events that wait to be sent again. By the unique key of webhook and event. */
export async function listParked(db: Queries, webhookId: string, eventIds: Iterable<string>): Promise<Set<string>> {
  const rows = await db.all<{ event_id: string }>(
    sql`SELECT event_id FROM webhook_deliveries
      WHERE webhook_id = ${webhookId} AND status = 'pending' AND event_id ${among(db, eventIds)}`,
  )
  return new Set(rows.map(({ event_id }) => event_id))
}

/** Lets what waits follow another order. By webhook_deliveries_newest. */
export async function reorderParked(
  tx: Queries,
  { id, event_order }: Pick<WebhookRow, 'id' | 'event_order'>,
  now: Micros,
): Promise<void> {
  const ofWebhook = sql`webhook_id = ${id} AND status = 'pending'`
  if (event_order === 'none')
    await tx.run(sql`UPDATE webhook_deliveries SET next_at = ${now} WHERE ${ofWebhook} AND next_at IS NULL`)
  else
    await tx.run(
      sql`UPDATE webhook_deliveries SET next_at = NULL
        WHERE ${ofWebhook} AND event_number > (
          SELECT min(first.event_number) FROM webhook_deliveries first
           WHERE first.webhook_id = ${id} AND first.status = 'pending'
             AND first.conversation_id = webhook_deliveries.conversation_id)`,
    )
}

/** The authors of these messages, by message. By primary key. */
export async function listAuthors(db: Queries, ids: Iterable<string>): Promise<Map<string, string | null>> {
  const rows = await db.all<{ id: string; user_id: string | null }>(
    sql`SELECT id, posted_by AS user_id FROM messages WHERE id ${among(db, ids)}`,
  )
  return new Map(rows.map(({ id, user_id }) => [id, user_id]))
}

/** The conversations among these that are direct. By primary key. */
export async function listDirect(db: Queries, ids: Iterable<string>): Promise<Set<string>> {
  const rows = await db.all<{ id: string }>(
    sql`SELECT id FROM conversations WHERE id ${among(db, ids)} AND is_direct = 1`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Where the webhooks stand that are sent events, and the number of the first event that one gets again. */
export async function findUnsettled(db: Queries): Promise<{ positions: string[]; first_number: number | null }> {
  const rows = await db.all<{ position: string }>(sql`SELECT DISTINCT position FROM webhooks WHERE status = 'active'`)
  if (rows.length === 0) return { positions: [], first_number: null }
  const pending = await db.get<{ first: number | null }>(
    sql`SELECT min(d.event_number) AS first FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
      WHERE d.status = 'pending' AND w.status = 'active'`,
  )
  return { positions: rows.map(({ position }) => position), first_number: pending?.first ?? null }
}

/**
 * The condition that the row `e` of the log is needed: it is ahead of a webhook, or it is one that is sent again, unless it is
 * too old.
 */
export function isNeededRow({
  isSettled,
  first_number,
  oldest,
}: {
  isSettled: Sql | undefined
  first_number: number | null
  oldest: Micros | undefined
}): Sql {
  const isAhead = isSettled ? sql`NOT ${isSettled}` : sql`1 = 0`
  const isAgain = first_number === null ? sql`1 = 0` : sql`e.id >= ${first_number}`
  return sql`(${isAhead} OR ${isAgain}) ${oldest === undefined ? sql`` : sql`AND e.created_at >= ${oldest}`}`
}
