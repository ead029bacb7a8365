import { setTimeout as sleep } from 'node:timers/promises'
import { repeatIfCalled } from './once.ts'

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
  const closing = new AbortController()
  const { signal } = closing
  const run = repeatIfCalled(async () => {
    if (signal.aborted) return
    // It rejects when it is aborted, before it is awaited too.
    const pause = sleep(ms, undefined, { ref: false, signal }).catch(() => {})
    await work()
    await pause
  })

  return {
    ask() {
      if (!signal.aborted) void run()
    },
    async close() {
      closing.abort()
      await run.current()
    },
  }
}
