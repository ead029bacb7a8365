import type { Writing } from '../database.ts'

/** Work that waits for a transaction, and then for its commit. */
export interface Writer {
  work: (tx: Writing) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** The maximum number of writers per commit, so that a burst does not block the event loop for long. */
const MAX_BATCH = 256

/** If the last batch had this many writers, the next one waits for as many, up to this time. */
const SIBLINGS = 4
const GATHER_MS = 1

/**
 * Groups writers into batches that share a commit, one batch after another.
 *
 * A single writer does not wait. If the last batch had several writers, the next one waits a moment for as many again:
 * they then share one sync of the disk, and one write to each reader.
 *
 * @param commit runs a batch and settles each of its writers; it calls `take` for them when it can begin
 */
export function createBatches(commit: (take: () => Writer[]) => Promise<void>) {
  const waiting: Writer[] = []
  let running = false
  let gathering: NodeJS.Timeout | undefined
  let lastBatch = 0

  async function run(): Promise<void> {
    clearTimeout(gathering)
    gathering = undefined
    running = true
    lastBatch = Math.min(waiting.length, MAX_BATCH)
    await commit(() => waiting.splice(0, MAX_BATCH))
    running = false
    schedule()
  }

  function schedule(): void {
    if (running || waiting.length === 0) return
    if (lastBatch >= SIBLINGS && waiting.length < lastBatch) {
      gathering ??= setTimeout(run, GATHER_MS)
      return
    }
    running = true
    // By setImmediate, so that all requests read in this turn of the event loop share the commit.
    setImmediate(run)
  }

  return {
    /** Runs `work` in the next batch; resolves once it is committed. */
    add: <T>(work: (tx: Writing) => Promise<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ work, resolve: resolve as Writer['resolve'], reject })
        schedule()
      }),
  }
}
