import { setTimeout as sleep } from 'node:timers/promises'

/** How many writes run at once while the service responds to no other calls: a disk flushes several at the cost of one. */
const WRITE_CONCURRENCY = 3

/** The service counts as idle after this many writes in a row without a response to another call. */
const IDLE_AFTER = 4

/** How many times as long as a write the pause after it may be. */
const MAX_PAUSE_FACTOR = 4

/** In this time, a client waits for the response to its part. */
const MAX_PAUSE_MS = 250

/** Runs writes in turn. */
export interface DiskPacer {
  /** @throws what `write` throws; the reason of `signal` while it waits */
  run<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T>
}

/**
 * Runs writes to a disk one after another, in the order of the calls: a commit of the database beside them waits for every
 * flush that has begun. While the service responds to other calls, there are pauses between the writes: the more calls,
 * the longer, up to four times as long as a write takes. While it responds to none, up to three writes run at once.
 *
 * @param callsAnswered the number of the other calls so far
 */
export function createDiskPacer(callsAnswered: () => number): DiskPacer {
  const waiting: (() => void)[] = []
  let running = 0
  let resumeAt = 0
  const idleness = createIdleness(callsAnswered)

  function startNext(): void {
    const most = idleness.isIdle() ? WRITE_CONCURRENCY : 1
    while (running < most && waiting.length > 0) {
      running++
      waiting.shift()!()
    }
  }

  async function take<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
    // A timer may fire up to a millisecond early.
    while (performance.now() < resumeAt) await sleep(resumeAt - performance.now(), undefined, { signal })
    const began = performance.now()
    const before = callsAnswered()
    try {
      return await write()
    } finally {
      const ended = performance.now()
      const times = Math.min(MAX_PAUSE_FACTOR, callsAnswered() - before)
      resumeAt = Math.max(resumeAt, ended + Math.min(MAX_PAUSE_MS, times * (ended - began)))
      idleness.written()
    }
  }

  return {
    async run(write, signal) {
      await new Promise<void>((start) => {
        waiting.push(start)
        startNext()
      })
      try {
        return await take(write, signal)
      } finally {
        running--
        startNext()
      }
    },
  }
}

/** Whether the service responds to no other calls, by the number of writes since the last response to one. */
function createIdleness(callsAnswered: () => number) {
  let answered = callsAnswered()
  let writes = 0
  return {
    isIdle(): boolean {
      const count = callsAnswered()
      if (count !== answered) writes = 0
      answered = count
      return writes >= IDLE_AFTER
    },
    written(): void {
      writes++
    },
  }
}
