import { setTimeout as sleep } from 'node:timers/promises'

/** How many times as long as a write the pause after it may be. */
const MOST_TIMES = 4

/** A client waits for the answer to its part meanwhile. */
const LONGEST_PAUSE_MS = 250

/** Runs writes in turn. */
export interface Turns {
  /** @throws what `write` throws; the reason of `signal` while it waits */
  run<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T>
}

/**
 * Runs writes to a disk one after another, in the order of the calls: a commit of the database beside them waits for every
 * flush that has begun. While the service responds to other calls, there are pauses between the writes: the more calls,
 * the longer, up to four times as long as a write takes.
 *
 * @param callsAnswered the number of the other calls so far
 */
export function createTurns(callsAnswered: () => number): Turns {
  let last: Promise<unknown> = Promise.resolve()
  let resumeAt = 0

  async function take<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const pause = resumeAt - performance.now()
    if (pause > 0) await sleep(pause, undefined, { signal })
    const began = performance.now()
    const before = callsAnswered()
    try {
      return await write()
    } finally {
      const ended = performance.now()
      const times = Math.min(MOST_TIMES, callsAnswered() - before)
      resumeAt = ended + Math.min(LONGEST_PAUSE_MS, times * (ended - began))
    }
  }

  return {
    run(write, signal) {
      const result = last.then(() => take(write, signal))
      last = result.catch(() => {})
      return result
    },
  }
}
