import { createTimer } from './timer.ts'

/** The maximum number of items per batch, and of their lengths together, so that a burst does not block the event loop for long. */
const MAX_BATCH = 256
const MAX_LENGTH = 1024 * 1024

/** If the last batch had this many items, the next one waits for as many. */
const SIBLINGS = 4

/** What a batch waits for: as many items as the last `batches` had together, but not for more than `most`, up to `ms`. */
interface Gathering {
  batches: number
  ms: number
  most?: number
}

/**
 * Groups items into batches that share a transaction, one batch after another.
 *
 * A single item does not wait. If the last batch had several, the next one waits a moment for as many again: they then
 * share one sync of the disk, and one write to each reader.
 *
 * @param commit runs a batch and settles each of its items; it calls `take` for them when it can begin; never rejects
 * @param options.lengthOf the length of an item's text
 * @param options.gathering what the next batch waits for. Default: as many as the last batch had, up to 1 ms
 * @param options.defer runs the next batch after the requests of this turn of the event loop are read. Default
 *   `setImmediate`; not for a `commit` that itself waits so long before it calls `take`
 */
export function createBatches<Item>(
  commit: (take: () => Item[]) => Promise<void>,
  {
    lengthOf = () => 0,
    gathering: { batches, ms, most = MAX_BATCH } = { batches: 1, ms: 1 },
    defer = setImmediate,
  }: { lengthOf?: (item: Item) => number; gathering?: Gathering; defer?: (run: () => void) => unknown } = {},
) {
  const waiting: Item[] = []
  const timer = createTimer(() => void run())
  let running = false
  let last: number[] = []

  async function run(): Promise<void> {
    running = true
    last = [Math.min(waiting.length, MAX_BATCH), ...last].slice(0, batches)
    await commit(take)
    running = false
    schedule()
  }

  function take(): Item[] {
    let length = 0
    const beyond = waiting.findIndex((item, index) => {
      length += lengthOf(item)
      return index > 0 && (index === MAX_BATCH || length > MAX_LENGTH)
    })
    return waiting.splice(0, beyond === -1 ? waiting.length : beyond)
  }

  function schedule(): void {
    if (running || waiting.length === 0) return
    const expected = Math.min(
      last.reduce((sum, count) => sum + count, 0),
      most,
    )
    if (expected >= SIBLINGS && waiting.length < expected) {
      timer.set(ms)
      return
    }
    running = true
    // The timer may be due before setImmediate: a second batch would then run beside this one.
    timer.cancel()
    defer(run)
  }

  return {
    /** Adds an item to the next batch. */
    add(item: Item): void {
      waiting.push(item)
      schedule()
    },
  }
}
