import { setTimeout as sleep } from 'node:timers/promises'

/** Work that runs on request, but not too often. */
export interface Throttle {
  /** Runs the work after this call: at once, or as soon as the run in progress and the pause permit. */
  ask(): void
  /** Starts no further run, and waits for the one in progress. */
  close(): Promise<void>
}

/**
 * Runs `work` when asked, one run at a time, with at least `ms` between the starts of two runs. All calls of `ask` during
 * a run or a pause get one run together.
 *
 * @param work must not reject
 */
export function createThrottle(ms: number, work: () => Promise<void>): Throttle {
  let isAsked = false
  let isClosed = false
  let started = Number.NEGATIVE_INFINITY
  let running: Promise<void> | undefined

  async function runAll(): Promise<void> {
    while (isAsked && !isClosed) {
      const pause = started + ms - performance.now()
      if (pause > 0) await sleep(pause, undefined, { ref: false })
      isAsked = false
      started = performance.now()
      await work()
    }
    running = undefined
  }

  return {
    ask() {
      isAsked = true
      if (!isClosed) running ??= runAll()
    },
    async close() {
      isClosed = true
      await running
    },
  }
}
