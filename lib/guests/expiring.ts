import type { Context } from '../context.ts'
import { OPERATOR } from '../core/actor.ts'
import { ChatError } from '../core/errors.ts'
import { DAY } from '../core/units.ts'
import { erase } from '../erasure/service.ts'
import { listUnused } from './store.ts'

/** The number of guests that a run erases: each takes several transactions. */
const PER_RUN = 20

/** Erases guests who have been away for `guests.idle_days`: their tokens have ended. Their messages stay, without an author. */
export async function eraseUnused(ctx: Context): Promise<void> {
  const before = ctx.clock.before(ctx.config.guests.idle_days * DAY)
  if (before === undefined) return
  for (const id of await listUnused(ctx.db, before, PER_RUN))
    await erase.run(ctx, OPERATOR, id, { messages: 'keep' }).catch(unlessGone)
}

/** Another process may have been faster. */
function unlessGone(error: unknown): void {
  if (!(error instanceof ChatError && error.code === 'not_found')) throw error
}
