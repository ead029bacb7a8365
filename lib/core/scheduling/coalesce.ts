import { createTimer } from './timer.ts'

/** Keys that are gathered for a while, and then handled together. */
export interface Coalescer {
  add(key: string): void
  /** Handles the gathered keys now, after the run in progress. */
  flush(): Promise<void>
  /** Handles no further keys, and waits for the run in progress. */
  close(): Promise<void>
}

/**
 * Gathers keys for `ms` from the first one on, then handles them in one call. One call at a time.
 *
 * @param handle must not reject; the keys of a call are distinct
 * @param most further keys are dropped
 */
export function createCoalescer(
  ms: number,
  handle: (keys: string[]) => Promise<void>,
  most = Number.POSITIVE_INFINITY,
): Coalescer {
  const keys_waiting = new Set<string>()
  const timer = createTimer(
    () => void flush(),
    (run, ms) => setTimeout(run, ms).unref(),
  )
  let running = Promise.resolve()
  let isClosed = false

  function flush(): Promise<void> {
    timer.cancel()
    running = running.then(() => {
      const keys = [...keys_waiting]
      keys_waiting.clear()
      return keys.length > 0 && !isClosed ? handle(keys) : undefined
    })
    return running
  }

  return {
    add(key) {
      if (keys_waiting.size < most) keys_waiting.add(key)
      if (!isClosed) timer.set(ms)
    },
    flush,
    close() {
      isClosed = true
      timer.cancel()
      return running
    },
  }
}
