import type { Context } from '../context.ts'
import { causeText } from '../core/errors.ts'
import type { Tx } from './transaction.ts'

/** Writes down that a session or key is used, or over. A storage that takes no writes keeps nobody from reading. */
export async function noteUse(ctx: Context, what: 'key' | 'session', work: (tx: Tx) => Promise<void>): Promise<void> {
  try {
    await ctx.write(work)
  } catch (error) {
    ctx.log.warn(`The use of a ${what} could not be written down`, { cause: causeText(error) })
  }
}
