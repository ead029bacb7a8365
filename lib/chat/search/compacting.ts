import type { Database } from '../../storage/database.ts'
import { inBatches } from '../../tasks/batches.ts'
import { hasTombstones, mergeIndex } from './store-index.ts'
import { removeWords } from './store-words.ts'

/** The pages of the index that are merged for each row of a batch: about as long as a row takes. */
const PAGES_EACH = 0.16

/**
 * Removes from the index what no message has any more: words of PostgreSQL, a few hundred at a time; and from the files of SQLite, too, what was taken out of the index: merges all of its parts into one, in short
 * transactions, between which posts are written.
 *
 * @param begun whether it goes on with a merge, which would begin anew otherwise
 */
export async function compactIndex(
  db: Database,
  begun: boolean,
  isOver: () => boolean,
): Promise<{ isDone: boolean; begun: boolean }> {
  if (db.dialect === 'postgresql') {
    const isDone = await inBatches(isOver, async () => {
      const started = performance.now()
      return (await db.write(removeWords)) ? undefined : performance.now() - started
    })
    return { isDone, begun: false }
  }
  if (!begun && !(await hasTombstones(db))) return { isDone: true, begun }
  const state = { begun }
  const isDone = await inBatches(isOver, async (size) => {
    const began = performance.now()
    const isMerged = await db.write((tx) => mergeIndex(tx, Math.ceil(size * PAGES_EACH), !state.begun))
    state.begun = true
    return isMerged ? undefined : performance.now() - began
  })
  return { isDone, ...state }
}
