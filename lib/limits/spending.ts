import type { Context } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import { HOUR, SECOND } from '../core/units.ts'
import { CLOCK_SKEW, type Rate, toNetwork } from './rules.ts'
import { listFull, takeShared } from './store-buckets.ts'

/**
 * A limit for actions with an entry in the audit log, which is kept for a year: one user must not fill it. The burst is
 * more than a user needs, twice the maximum number of keys; then one a minute.
 */
const RATES = {
  'key.created': { requests_per_second: 1 / 60, burst: 100 },
  'grant.created': { requests_per_second: 1 / 60, burst: 100 },
  'webhook.created': { requests_per_second: 1 / 60, burst: 100 },
  'profile.changed': { requests_per_second: 1 / 60, burst: 30 },
} as const

/** Counts an action of a user. @throws ChatError `rate_limited` after too many */
export async function spendAct(ctx: Context, userId: string, act: keyof typeof RATES): Promise<void> {
  await spend(ctx, `${act}:${userId}`, RATES[act])
}

/** Up to so many guests of an hour have a bucket each. */
const MAX_BUCKETS = 100

/**
 * Counts a guest that an address lets in. In no hour are there more than `guests.per_ip_per_hour`: of many, half come at once, and
 * the rest over the hour.
 *
 * @throws ChatError `rate_limited`
 */
export function spendGuest(ctx: Context, ip: string | undefined): Promise<void> {
  const most = ctx.config.guests.per_ip_per_hour
  const bucket = `guest.created:${toNetwork(ip ?? '')}`
  if (most <= MAX_BUCKETS) return spendOneOf(ctx, bucket, most)
  const burst = Math.floor(most / 2)
  return spend(ctx, bucket, { requests_per_second: burst / 3600, burst })
}

/** Counts a message of a guest. @throws ChatError `rate_limited` */
export function spendMessage(ctx: Context, userId: string): Promise<void> {
  const burst = ctx.config.guests.messages_per_min
  return spend(ctx, `guest.message:${userId}`, { requests_per_second: burst / 60, burst })
}

/** Counts a message of a bot in a conversation. @throws ChatError `rate_limited` */
export function spendBotMessage(ctx: Context, userId: string, conversationId: string): Promise<void> {
  const burst = ctx.config.bots.messages_per_min
  return spend(ctx, `bot.message:${userId}:${conversationId}`, { requests_per_second: burst / 60, burst })
}

/** Commands that a user may call at once, and then one every two seconds. */
const COMMAND_RATE = { requests_per_second: 0.5, burst: 30 }

/** Counts a call of a command. @throws ChatError `rate_limited` */
export function spendCommand(ctx: Context, userId: string): Promise<void> {
  return spend(ctx, `command.invoked:${userId}`, COMMAND_RATE)
}

/** What a hook may post at once, and then each second. */
const HOOK_RATE = { requests_per_second: 1, burst: 30 }

/** Counts a post by a hook. @throws ChatError `rate_limited` */
export function spendHook(ctx: Context, hookId: string): Promise<void> {
  return spend(ctx, `hook.post:${hookId}`, HOOK_RATE)
}

/** How often the URLs of a user's webhooks are called because the user asks for it. */
const WEBHOOK_CALL_RATE = { requests_per_second: 10 / 60, burst: 10 }

/** Counts a call of a webhook that its owner has asked for. @throws ChatError `rate_limited` */
export function spendWebhookCall(ctx: Context, userId: string): Promise<void> {
  return spend(ctx, `webhook.call:${userId}`, WEBHOOK_CALL_RATE)
}

async function spend(ctx: Context, bucket: string, rate: Rate): Promise<void> {
  const { allowed, retry_after_seconds = 1 } = await takeShared(ctx.db, bucket, ctx.now(), rate)
  if (!allowed) throw new ChatError('rate_limited', { retry_after_seconds })
}

/** Photos that a user may send in any hour: each costs memory and space. */
const MAX_PHOTOS_PER_HOUR = 10
const ONE_AN_HOUR = { requests_per_second: 1 / 3600, burst: 1 }

/** Counts a photo that a user sends. @throws ChatError `rate_limited` */
export function spendPhoto(ctx: Pick<Context, 'db' | 'now'>, userId: string): Promise<void> {
  return spendOneOf(ctx, `avatar.set:${userId}`, MAX_PHOTOS_PER_HOUR)
}

/** Documents of clients that a user may be the first to have read in any hour: each calls an address that the user names. */
const MAX_DOCUMENTS_PER_HOUR = 10

/** Counts a document of a client that is new. @throws ChatError `rate_limited` */
export function spendDocument(ctx: Pick<Context, 'db' | 'now'>, userId: string): Promise<void> {
  return spendOneOf(ctx, `oauth.document:${userId}`, MAX_DOCUMENTS_PER_HOUR)
}

/** Clients that may register themselves from one network in any hour: each is kept for a day. */
const MAX_REGISTRATIONS_PER_HOUR = 20

/** Counts a client that registers itself. @throws ChatError `rate_limited` */
export function spendRegistration(ctx: Pick<Context, 'db' | 'now'>, ip: string | undefined): Promise<void> {
  return spendOneOf(ctx, `oauth.registration:${toNetwork(ip ?? '')}`, MAX_REGISTRATIONS_PER_HOUR)
}

/**
 * Counts an action of which there are so many in any hour. Each has a bucket of its own: one bucket for all would refill while
 * it empties, and allow nearly twice as many in the first hour.
 *
 * @throws ChatError `rate_limited`
 */
async function spendOneOf({ db, now }: Pick<Context, 'db' | 'now'>, bucket: string, most: number): Promise<void> {
  const at = now()
  const buckets = Array.from({ length: most }, (_, n) => `${bucket}:${n}`)
  const full = new Map(
    (await listFull(db, buckets, at + HOUR + CLOCK_SKEW, at)).map(({ bucket, tat }) => [bucket, tat]),
  )
  const waits = [...full.values()].map((tat) => Math.ceil((tat - at) / SECOND))
  for (const each of buckets) {
    if (full.has(each)) continue
    const { allowed, retry_after_seconds = 1 } = await takeShared(db, each, at, ONE_AN_HOUR)
    if (allowed) return
    waits.push(retry_after_seconds)
  }
  throw new ChatError('rate_limited', { retry_after_seconds: Math.min(...waits) })
}
