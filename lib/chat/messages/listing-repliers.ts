import type { Context } from '../../context.ts'
import { inBatches } from '../../tasks/batches.ts'
import { hasUnlistedRepliers, listUnlistedRepliers } from './store-replies.ts'

/** How long one run takes: a stop waits for it. */
const RUN_MS = 1_000

/**
 * Stores who replied last in the threads that have no such list: all with replies after an upgrade and an import, and those
 * in which a program has posted that knows no such list. The rest waits for the next run.
 */
export async function listLastRepliers({ db, streams }: Pick<Context, 'db' | 'streams'>): Promise<void> {
  if (!(await hasUnlistedRepliers(db))) return
  const end = performance.now() + RUN_MS
  const isOver = () => performance.now() >= end || streams.hub.isDraining()
  await inBatches(isOver, async (size) => {
    const began = performance.now()
    const count = await db.write((tx) => listUnlistedRepliers(tx, size))
    return count === 0 ? undefined : performance.now() - began
  })
}
