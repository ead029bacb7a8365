import { takeAccount } from '../accounts/administration/service.ts'
import type { Context } from '../context.ts'
import { OPERATOR } from '../core/actor.ts'
import { ChatError } from '../core/errors.ts'
import { DAY, HOUR } from '../core/units.ts'
import { eraseAccount } from '../erasure/service.ts'
import type { Tx } from '../live/transaction/transaction.ts'
import type { Micros } from '../storage/sql.ts'
import { isUnused, listUnused } from './store.ts'

/** The number of guests that a run erases: each takes several transactions. */
const PER_RUN = 20

/** What a run leaves for later ones. */
export interface GuestsRest {
  /** Until when none has to look, while guests are off. */
  until: Micros
}

/**
 * Erases guests who have been away for `guests.idle_days`, whatever they were here with: their tokens have ended. Their messages
 * stay, without an author.
 * While guests are off, those of before are looked for each hour, once none was found.
 */
export async function eraseUnused(ctx: Context, rest: GuestsRest = { until: 0 }): Promise<void> {
  if (!ctx.config.guests.enabled && ctx.now() < rest.until) return
  const before = ctx.clock.before(ctx.config.guests.idle_days * DAY)
  if (before === undefined) return
  const ids = await listUnused(ctx.db, before, PER_RUN)
  rest.until = ids.length === 0 ? ctx.now() + HOUR : 0
  for (const id of ids) {
    const take = async (tx: Tx) => {
      const guest = await takeAccount(tx, OPERATOR, id, { resigns: true })
      // The erasures before it take their time: it may have returned meanwhile, which waits for the lock from here on.
      if (!(await isUnused(tx, id, before))) throw new ChatError('not_found')
      return guest
    }
    await eraseAccount(ctx, OPERATOR, { id, messages: 'keep', take }).catch(unlessGone)
  }
}

/** Another process may have been faster, or the guest is back. */
function unlessGone(error: unknown): void {
  if (!(error instanceof ChatError && error.code === 'not_found')) throw error
}
