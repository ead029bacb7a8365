import type { Context } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { DAY } from '../../core/units.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { sessionEnded } from '../audit/rules.ts'
import { hasEnded } from '../audit/store.ts'
import { noteGuestUse } from '../users/guest-use.ts'
import { lockUser } from '../users/store.ts'
import { expireSession, type SessionOfCall, type SessionUse, touchSession } from './store.ts'

/** Stores that a session or key was used or has expired. If the storage accepts no writes, the caller can still read. */
export async function recordUse(ctx: Context, what: 'key' | 'session', work: (tx: Tx) => Promise<void>): Promise<void> {
  try {
    await ctx.write(work)
  } catch (error) {
    ctx.log.warn(`The use of a ${what} could not be stored`, { cause: causeText(error) })
  }
}

/** Stores that a session was used, and with that of a guest that the guest was seen. */
export async function recordSessionUse(
  ctx: Context,
  { id, user_id, kind }: Pick<SessionOfCall, 'id' | 'user_id' | 'kind'>,
  use: SessionUse,
): Promise<void> {
  await recordUse(ctx, 'session', (tx) => touchSession(tx, id, use))
  await noteGuestUse(ctx, { id: user_id, kind })
}

/**
 * Stores that a session has expired. The audit log gets one entry for each user, reason and day (UTC): a browser that is
 * opened once a day ends a session each time.
 */
export async function recordExpiry(
  tx: Tx,
  { id, user_id, absolute_expires_at }: Pick<SessionOfCall, 'id' | 'user_id' | 'absolute_expires_at'>,
  now: Micros,
): Promise<void> {
  // Locked: of several sessions that expire at once, on any node, one is the first of the day.
  await lockUser(tx, user_id)
  if ((await expireSession(tx, id)) === 0) return
  const reason = now > absolute_expires_at ? 'absolute' : 'idle'
  if (await hasEnded(tx, { user_id, reason, since: now - (now % DAY) })) return
  tx.audit(sessionEnded(reason, { subject_id: user_id, detail: { session_id: id } }))
}
