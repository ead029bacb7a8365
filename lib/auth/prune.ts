import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Context } from '../context.ts'
import type { Tx } from '../events/write.ts'
import { SECOND } from '../ids.ts'
import { deleteExpiredKeys } from '../keys/store.ts'
import { deleteExpiredResets } from '../resets/store.ts'
import { deleteSessions, listOldest } from './store.ts'

/** How long what has expired is remembered: a session answers `session_expired`, a key is still in the list. */
const REMEMBERED_SECONDS = 30 * 24 * 60 * 60

/** How many rows are looked at at once: other callers wait no longer than that takes. */
const BATCH = 500

/** Forgets resets that have expired, and keys and sessions that expired a month ago, a few at a time. */
export async function prune(ctx: Context): Promise<void> {
  const now = ctx.now()
  const forgotten = now - REMEMBERED_SECONDS * SECOND
  await inBatches(ctx, (tx) => deleteExpiredResets(tx, now, BATCH))
  await inBatches(ctx, (tx) => deleteExpiredKeys(tx, forgotten, BATCH))
  await pruneSessions(ctx, forgotten)
}

async function inBatches(ctx: Context, forget: (tx: Tx) => Promise<number>): Promise<void> {
  while ((await ctx.write(forget)) === BATCH) await nextTurn()
}

/** Walks the sessions from the oldest on, as far as there may be one that has long expired. */
async function pruneSessions(ctx: Context, forgotten: number): Promise<void> {
  let after = ''
  for (;;) {
    const page = await listOldest(ctx.db, after, BATCH)
    const over = page.filter((session) => session.absolute_expires_at < forgotten).map((session) => session.id)
    if (over.length > 0) await ctx.write((tx) => deleteSessions(tx, over))
    const last = page[BATCH - 1]
    if (!last || last.issued_at >= forgotten) return
    after = last.id
    // SQLite answers within the same turn of the event loop: without a break, a long walk would be one.
    await nextTurn()
  }
}
