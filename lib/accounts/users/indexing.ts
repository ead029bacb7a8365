import type { Context } from '../../context.ts'
import { inBatches } from '../../tasks/batches.ts'
import { hasOutdated, indexOutdated } from './store-naming.ts'

/** How long one run takes: a stop waits for it. */
const RUN_MS = 1_000

/**
 * Makes the words of users that a program without words has added or renamed, and of all users after an upgrade and an
 * import. The rest waits for the next run.
 */
export async function indexNames({ db, streams }: Pick<Context, 'db' | 'streams'>): Promise<void> {
  if (!(await hasOutdated(db))) return
  const end = performance.now() + RUN_MS
  const isOver = () => performance.now() >= end || streams.hub.isDraining()
  await inBatches(isOver, async (size) => {
    const began = performance.now()
    const count = await db.write((tx) => indexOutdated(tx, size))
    return count === 0 ? undefined : performance.now() - began
  })
}
