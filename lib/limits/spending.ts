import type { Context } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import { takeShared } from './buckets.ts'

/**
 * Acts of users that are each a row of the audit log, kept for a year: one user does not fill it. At once more than
 * a user needs, twice the keys a user may have for one, and then one a minute.
 */
const RATES = {
  'key.created': { requests_per_second: 1 / 60, burst: 100 },
  'profile.changed': { requests_per_second: 1 / 60, burst: 30 },
} as const

/** Counts an act of a user. @throws ChatError `rate_limited` when there were too many lately */
export async function spendAct(ctx: Context, userId: string, act: keyof typeof RATES): Promise<void> {
  const { allowed, retry_after_seconds = 1 } = await takeShared(ctx.db, `${act}:${userId}`, ctx.now(), RATES[act])
  if (!allowed) throw new ChatError('rate_limited', { retry_after_seconds })
}
