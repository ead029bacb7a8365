import type { Context } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import { type Rate, toNetwork } from './rules.ts'
import { takeShared } from './store-buckets.ts'

/**
 * A limit for actions with an entry in the audit log, which is kept for a year: one user must not fill it. The burst is
 * more than a user needs, twice the maximum number of keys; then one a minute.
 */
const RATES = {
  'key.created': { requests_per_second: 1 / 60, burst: 100 },
  'profile.changed': { requests_per_second: 1 / 60, burst: 30 },
} as const

/** Counts an action of a user. @throws ChatError `rate_limited` after too many */
export async function spendAct(ctx: Context, userId: string, act: keyof typeof RATES): Promise<void> {
  await spend(ctx, `${act}:${userId}`, RATES[act])
}

/** Counts a guest that an address lets in. @throws ChatError `rate_limited` */
export function spendGuest(ctx: Context, ip: string | undefined): Promise<void> {
  const burst = ctx.config.guests.per_ip_per_hour
  return spend(ctx, `guest.created:${toNetwork(ip ?? '')}`, { requests_per_second: burst / 3600, burst })
}

/** Counts a message of a guest. @throws ChatError `rate_limited` */
export function spendMessage(ctx: Context, userId: string): Promise<void> {
  const burst = ctx.config.guests.messages_per_min
  return spend(ctx, `guest.message:${userId}`, { requests_per_second: burst / 60, burst })
}

async function spend(ctx: Context, bucket: string, rate: Rate): Promise<void> {
  const { allowed, retry_after_seconds = 1 } = await takeShared(ctx.db, bucket, ctx.now(), rate)
  if (!allowed) throw new ChatError('rate_limited', { retry_after_seconds })
}

/** Photos that a user may send in any hour: each costs memory and space. */
const MAX_PHOTOS_PER_HOUR = 10
const ONE_AN_HOUR = { requests_per_second: 1 / 3600, burst: 1 }

/**
 * Counts a photo that a user sends. Each of an hour has a bucket of its own: one bucket for all would refill while it empties,
 * and allow nearly twice as many in the first hour.
 *
 * @throws ChatError `rate_limited`
 */
export async function spendPhoto({ db, now }: Pick<Context, 'db' | 'now'>, userId: string): Promise<void> {
  const at = now()
  const waits: number[] = []
  for (let n = 0; n < MAX_PHOTOS_PER_HOUR; n++) {
    const { allowed, retry_after_seconds = 1 } = await takeShared(db, `avatar.set:${userId}:${n}`, at, ONE_AN_HOUR)
    if (allowed) return
    waits.push(retry_after_seconds)
  }
  throw new ChatError('rate_limited', { retry_after_seconds: Math.min(...waits) })
}
