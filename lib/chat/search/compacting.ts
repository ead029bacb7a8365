import type { Database } from '../../storage/database.ts'
import { inBatches, type Pace } from '../../tasks/batches.ts'
import { listUnmerged, mergePartition } from './store-fts5.ts'
import { removeWords } from './store-words.ts'

/** A post waits for a batch: of at least this many pages of the index, however long the disk takes for a commit. */
const PACE: Pace = { smallest: 50, rest: 0.5 }

/**
 * Removes from the index what no message has any more: words of PostgreSQL, a few hundred at a time; and from the files of
 * SQLite, too, what was taken out of the index: it merges each partition that has such into one segment, in short transactions,
 * between which posts are written.
 *
 * @param begun the partition with whose merge it continues, which would start again otherwise
 * @returns whether nothing is left; else the partition that it was at, if any
 */
export async function compactIndex(
  db: Database,
  begun: number | undefined,
  isOver: () => boolean,
): Promise<{ isDone: boolean; begun?: number }> {
  if (db.dialect === 'postgresql') {
    const isDone = await inBatches(isOver, async () => {
      const started = performance.now()
      return (await db.write(removeWords)) ? undefined : performance.now() - started
    })
    return { isDone }
  }
  const unmerged = await listUnmerged(db)
  const partitions = begun === undefined ? unmerged : [begun, ...unmerged.filter((each) => each !== begun)]
  for (const partition of partitions)
    if (!(await mergeAll(db, partition, partition === begun, isOver))) return { isDone: false, begun: partition }
  return { isDone: true }
}

/** @returns whether nothing is left to merge */
function mergeAll(db: Database, partition: number, isBegun: boolean, isOver: () => boolean): Promise<boolean> {
  let isFirst = !isBegun
  return inBatches(
    isOver,
    async (pages) => {
      const began = performance.now()
      const isMerged = await db.write((tx) => mergePartition(tx, partition, pages, isFirst))
      isFirst = false
      return isMerged ? undefined : performance.now() - began
    },
    PACE,
  )
}
