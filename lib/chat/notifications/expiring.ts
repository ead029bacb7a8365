import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import { DAY } from '../../core/units.ts'
import { inPages } from '../../tasks/batches.ts'
import { type FullInbox, listFull, removeOldest } from './store-removing.ts'

/** The number of notifications that an inbox keeps. */
const MAX_KEPT = 10_000

/** The users whose inboxes one query reads: it counts up to {@link MAX_KEPT} entries of each. */
const PAGE = 20

/** The number of notifications that one transaction deletes. */
const BATCH = 500

/** Where in the order of users a round through all inboxes has got to. */
export interface InboxRound {
  /** '' before the first user. */
  after: string
  /** About how long one call searches. */
  ms: number
}

/**
 * Deletes the notifications that inboxes do not keep: those that are too old, and the oldest of too many.
 *
 * @param round continues one that other calls have begun; without it, all inboxes are checked
 * @returns the number of notifications
 */
export async function pruneInboxes(ctx: Context, round?: InboxRound, most = MAX_KEPT): Promise<number> {
  const before = ctx.clock.before(ctx.config.notifications.keep_days * DAY)
  if (before === undefined) return 0
  const kept = { before, most }
  const { ms = Number.POSITIVE_INFINITY } = round ?? {}
  let after = round?.after ?? ''
  let removed = 0
  for (let searched = 0; searched < ms && !ctx.streams.hub.isDraining(); ) {
    const began = performance.now()
    const { full, last } = await listFull(ctx.db, kept, after, PAGE)
    searched += performance.now() - began
    for (const inbox of full) removed += await pruneInbox(ctx, inbox)
    after = last ?? ''
    if (last === undefined) break
    await nextTurn()
  }
  if (round) round.after = after
  return removed
}

/** Deletes what one inbox does not keep, some in each transaction, until the service stops. @returns the number */
function pruneInbox(ctx: Context, inbox: FullInbox): Promise<number> {
  return inPages(
    ctx.db,
    BATCH,
    (limit) => ctx.write((tx) => removeOldest(tx, inbox, limit)),
    ctx.streams.hub.isDraining,
  )
}
