import type { Context } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import { takeShared } from './store-buckets.ts'

/**
 * A limit for actions with an entry in the audit log, which is kept for a year: one user must not fill it. The burst is
 * more than a user needs, twice the maximum number of keys; then one a minute. A photo costs memory and space: ten an hour.
 */
const RATES = {
  'key.created': { requests_per_second: 1 / 60, burst: 100 },
  'profile.changed': { requests_per_second: 1 / 60, burst: 30 },
  'avatar.set': { requests_per_second: 10 / 3600, burst: 10 },
} as const

/** Counts an action of a user. @throws ChatError `rate_limited` after too many */
export async function spendAct(ctx: Context, userId: string, act: keyof typeof RATES): Promise<void> {
  const { allowed, retry_after_seconds = 1 } = await takeShared(ctx.db, `${act}:${userId}`, ctx.now(), RATES[act])
  if (!allowed) throw new ChatError('rate_limited', { retry_after_seconds })
}
