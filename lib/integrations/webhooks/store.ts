import type { Cutoff } from '../../core/clock.ts'
import type { Queries } from '../../storage/database.ts'
import { among, type Micros, type Sql, sql, where } from '../../storage/sql.ts'
import type { DisabledReason, WebhookStatus } from './schema.ts'

/** A webhook as it is stored: `secret`, `previous_secret` and `headers` are sealed. */
export interface WebhookRow {
  id: string
  /** The owner; `null` for the operator, whose webhooks get the events of all conversations. */
  user_id: string | null
  /** The bot whose events it gets, by the rights of the bot. */
  bot_id: string | null
  /** The API key that has made it, and with which it ends. */
  key_id: string | null
  url: string
  /** The host of the URL, with a port that is not that of its scheme. */
  host: string
  /** JSON: a list of types, as they were named. */
  types: string
  conversation_id: string | null
  only_notified: number
  bots: number
  event_order: 'none' | 'conversation'
  parallel: number
  payload: 'full' | 'thin'
  /** 1 if the thin events of the operator's have texts. */
  has_content: number
  signature: 'v1' | 'v1a'
  secret: string | null
  /** What was the secret until `rotated_at`. */
  previous_secret: string | null
  rotated_at: Micros | null
  public_key: string | null
  /** Sealed JSON: values by name. */
  headers: string | null
  /** JSON: a list. */
  header_names: string
  description: string | null
  status: WebhookStatus
  disabled_reason: DisabledReason | null
  disabled_at: Micros | null
  /** Since when the URL has not answered a challenge; `null` if it has, or needs not. */
  unverified_at: Micros | null
  /** The place in the feed before which all is settled, with the name of its history. */
  position: string
  /** JSON: places beyond it up to which all is settled but some events, and these; `null` without any. */
  ahead: string | null
  /** JSON: what the next `webhook.gap`s say. */
  gap: string | null
  failing_since: Micros | null
  paused_until: Micros | null
  last_success_at: Micros | null
  last_failed: number
  created_at: Micros
}

/** The columns of a {@link WebhookRow}. */
export const WEBHOOK_COLUMNS = sql`id, user_id, bot_id, key_id, url, host, types, conversation_id, only_notified, bots,
  event_order, parallel, payload, has_content, signature, secret, previous_secret, rotated_at, public_key, headers,
  header_names, description, status, disabled_reason, disabled_at, unverified_at, position, ahead, gap, failing_since,
  paused_until, last_success_at, last_failed, created_at`

/** Takes the lease from the process that sends: it finds that when it stores results, and reads the webhook again. */
const RELEASED = sql`writer = NULL, lease_expires_at = NULL`

/** Which webhooks a caller has: those of a user, of a bot, or as the operator all. */
export type WebhookHolder = { user_id: string } | { bot_id: string } | { all: true }

/** The condition of the webhooks of a holder, of the columns of `webhooks`. */
function isOf(holder: WebhookHolder): Sql | false {
  if ('all' in holder) return false
  return 'bot_id' in holder ? sql`bot_id = ${holder.bot_id}` : sql`user_id = ${holder.user_id}`
}

/** A webhook of a holder. By primary key. */
export function findWebhook(db: Queries, id: string, holder: WebhookHolder): Promise<WebhookRow | undefined> {
  return db.get<WebhookRow>(sql`SELECT ${WEBHOOK_COLUMNS} FROM webhooks ${where(sql`id = ${id}`, isOf(holder))}`)
}

/** {@link findWebhook}, locked until the transaction ends. */
export function lockWebhook(tx: Queries, id: string, holder: WebhookHolder): Promise<WebhookRow | undefined> {
  return tx.get<WebhookRow>(
    sql`SELECT ${WEBHOOK_COLUMNS} FROM webhooks ${where(sql`id = ${id}`, isOf(holder))}
      ${tx.dialect === 'postgresql' ? sql`FOR UPDATE` : sql``}`,
  )
}

/** Which webhooks of a holder are listed: those of a bot, after the given one, and how many. Default: all. */
export interface WebhookListing {
  bot_id?: string | undefined
  after?: string | undefined
  limit?: number
}

/** The webhooks of a holder, oldest first. By webhooks_of_user, webhooks_of_bot; those of all users by primary key. */
export function listWebhooks(
  db: Queries,
  holder: WebhookHolder,
  { bot_id, after, limit }: WebhookListing = {},
): Promise<WebhookRow[]> {
  const filters = [after !== undefined && sql`id > ${after}`, bot_id !== undefined && sql`bot_id = ${bot_id}`]
  return db.all<WebhookRow>(
    sql`SELECT ${WEBHOOK_COLUMNS} FROM webhooks ${where(isOf(holder), ...filters)}
      ORDER BY id ${limit === undefined ? sql`` : sql`LIMIT ${limit}`}`,
  )
}

/** The webhooks with these ids. By primary key. */
export function listWebhooksByIds(db: Queries, ids: readonly string[]): Promise<WebhookRow[]> {
  return db.all<WebhookRow>(sql`SELECT ${WEBHOOK_COLUMNS} FROM webhooks WHERE id ${among(db, ids)}`)
}

/** The number of webhooks of a user, those of the user's bots included. By webhooks_of_user. */
export async function countWebhooks(db: Queries, userId: string): Promise<number> {
  const row = await db.get<{ count: number }>(sql`SELECT count(*) AS count FROM webhooks WHERE user_id = ${userId}`)
  return row!.count
}

/** Which webhooks an administrator lists. */
export interface WebhookFilter {
  user_id?: string | undefined
  host?: string | undefined
  status?: WebhookStatus | undefined
  after?: string | undefined
}

/** Up to `limit` webhooks of all users, newest first, after the given one. By primary key; those of a user by user_id. */
export function listAllWebhooks(
  db: Queries,
  { user_id, host, status, after }: WebhookFilter,
  limit: number,
): Promise<WebhookRow[]> {
  return db.all<WebhookRow>(
    sql`SELECT ${WEBHOOK_COLUMNS} FROM webhooks
      ${where(
        after !== undefined && sql`id < ${after}`,
        user_id !== undefined && sql`user_id = ${user_id}`,
        host !== undefined && sql`host = ${host}`,
        status !== undefined && sql`status = ${status}`,
      )}
      ORDER BY id DESC LIMIT ${limit}`,
  )
}

export async function insertWebhook(tx: Queries, row: WebhookRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO webhooks (${WEBHOOK_COLUMNS})
      VALUES (${row.id}, ${row.user_id}, ${row.bot_id}, ${row.key_id}, ${row.url}, ${row.host}, ${row.types},
              ${row.conversation_id}, ${row.only_notified}, ${row.bots}, ${row.event_order}, ${row.parallel},
              ${row.payload}, ${row.has_content}, ${row.signature}, ${row.secret}, ${row.previous_secret},
              ${row.rotated_at}, ${row.public_key}, ${row.headers}, ${row.header_names}, ${row.description},
              ${row.status}, ${row.disabled_reason}, ${row.disabled_at}, ${row.unverified_at}, ${row.position},
              ${row.ahead}, ${row.gap}, ${row.failing_since}, ${row.paused_until}, ${row.last_success_at}, ${row.last_failed},
              ${row.created_at})`,
  )
}

/** Stores what the owner chooses, and the state that follows from it; not what the sending of events writes. */
export async function updateWebhook(tx: Queries, row: WebhookRow): Promise<void> {
  await tx.run(
    sql`UPDATE webhooks SET key_id = ${row.key_id}, url = ${row.url}, host = ${row.host}, types = ${row.types},
          conversation_id = ${row.conversation_id}, only_notified = ${row.only_notified}, bots = ${row.bots},
          event_order = ${row.event_order}, parallel = ${row.parallel}, payload = ${row.payload},
          has_content = ${row.has_content}, signature = ${row.signature}, secret = ${row.secret},
          previous_secret = ${row.previous_secret}, rotated_at = ${row.rotated_at}, public_key = ${row.public_key},
          headers = ${row.headers}, header_names = ${row.header_names}, description = ${row.description},
          status = ${row.status}, disabled_reason = ${row.disabled_reason}, disabled_at = ${row.disabled_at},
          unverified_at = ${row.unverified_at}, ${RELEASED}
      WHERE id = ${row.id}`,
  )
}

/** Puts a webhook at a place of the feed: all before it is settled, and nothing after it. */
export async function setPosition(
  tx: Queries,
  id: string,
  { position, gap }: Pick<WebhookRow, 'position' | 'gap'>,
): Promise<void> {
  await tx.run(
    sql`UPDATE webhooks SET position = ${position}, ahead = NULL, gap = ${gap}, ${RELEASED} WHERE id = ${id}`,
  )
}

/** Takes the webhook from the process that sends, which reads it again, with its deliveries. */
export async function releaseLease(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`UPDATE webhooks SET ${RELEASED} WHERE id = ${id}`)
}

/** Ends the sending of an enabled webhook. @returns whether it was enabled */
export async function disableWebhook(
  tx: Queries,
  id: string,
  { reason, at }: { reason: DisabledReason; at: Micros },
): Promise<boolean> {
  const count = await tx.run(
    sql`UPDATE webhooks SET status = 'disabled', disabled_reason = ${reason}, disabled_at = ${at}, ${RELEASED}
      WHERE id = ${id} AND status <> 'disabled'`,
  )
  return count > 0
}

/** Lets an unverified webhook send, if its URL is still this one. @returns whether it was */
export async function setVerified(tx: Queries, { id, url }: Pick<WebhookRow, 'id' | 'url'>): Promise<boolean> {
  const count = await tx.run(
    sql`UPDATE webhooks SET status = 'active', unverified_at = NULL
      WHERE id = ${id} AND url = ${url} AND status = 'unverified'`,
  )
  return count > 0
}

/** Ends a pause, and forgets since when attempts have failed. What waits for another attempt keeps its time. */
export async function clearFailures(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`UPDATE webhooks SET failing_since = NULL, paused_until = NULL WHERE id = ${id}`)
}

/** By primary key; its deliveries go with it. */
export async function deleteWebhook(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`DELETE FROM webhooks WHERE id = ${id}`)
}

/** What is to be sent again of webhooks: how many events, and since when the oldest one waits. */
export interface Waiting {
  webhook_id: string
  parked: number
  oldest_at: Micros
}

/** What waits of these webhooks; those without are missing. By webhook_deliveries_newest. */
export function listWaiting(db: Queries, ids: readonly string[]): Promise<Waiting[]> {
  return db.all<Waiting>(
    sql`SELECT webhook_id, count(*) AS parked, min(at) AS oldest_at FROM webhook_deliveries
      WHERE webhook_id ${among(db, ids)} AND status = 'pending' GROUP BY webhook_id`,
  )
}

/** The number of webhooks by status. By webhooks_by_status. */
export function countByStatus(db: Queries): Promise<{ status: WebhookStatus; count: number }[]> {
  return db.all(sql`SELECT status, count(*) AS count FROM webhooks GROUP BY status`)
}

/** The number of disabled webhooks by reason. By webhooks_by_status. */
export function countDisabled(db: Queries): Promise<{ disabled_reason: DisabledReason; count: number }[]> {
  return db.all(
    sql`SELECT disabled_reason, count(*) AS count FROM webhooks WHERE status = 'disabled' GROUP BY disabled_reason`,
  )
}

/** Deletes up to `limit` webhooks that have been unverified since before `before`. By webhooks_by_status. */
export function deleteUnverified(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM webhooks WHERE id IN (
          SELECT id FROM webhooks WHERE status = 'unverified' AND unverified_at < ${before} LIMIT ${limit})`,
  )
}
