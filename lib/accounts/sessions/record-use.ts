import type { Context } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction.ts'

/** Stores that a session or key was used or has expired. If the storage accepts no writes, the caller can still read. */
export async function recordUse(ctx: Context, what: 'key' | 'session', work: (tx: Tx) => Promise<void>): Promise<void> {
  try {
    await ctx.write(work)
  } catch (error) {
    ctx.log.warn(`The use of a ${what} could not be stored`, { cause: causeText(error) })
  }
}
