import type { Context } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { HOUR } from '../../core/units.ts'
import type { UserKind } from './rules.ts'
import { isGuestUseDue, touchGuest } from './store-changes.ts'

/**
 * Stores that a guest was seen, at most once an hour: what it called with leaves no other trace once it has ended, and a guest
 * who is not seen for long is erased. For others it does nothing. If the storage accepts no writes, the guest can still read.
 */
export async function noteGuestUse(ctx: Context, { id, kind }: { id: string; kind: UserKind }): Promise<void> {
  if (kind !== 'guest') return
  const at = ctx.now()
  const before = at - HOUR
  if (!(await isGuestUseDue(ctx.db, id, before))) return
  await ctx
    .write((tx) => touchGuest(tx, id, { at, before }))
    .catch((error) => ctx.log.warn('The use of a guest could not be stored', { cause: causeText(error) }))
}
