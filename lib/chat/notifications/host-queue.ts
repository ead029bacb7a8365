import { setMaxListeners } from 'node:events'
import type { Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { withDeadline } from '../../core/scheduling/deadline.ts'
import { warnOnce } from '../../core/scheduling/once.ts'
import { createWorkers } from '../../core/scheduling/workers.ts'

/** The maximum number of notifications and messages that wait. Further ones are dropped: a slow host costs no memory. */
const MAX_WAITING = 100_000

/** How many calls of the host are in progress at the same time. */
const CONCURRENCY = 16

/** How long the host may take for a call; its result is ignored then. */
const TIMEOUT_MS = 10_000

/** How long `close` waits for what was committed before. */
const CLOSE_MS = 2_000

const LATE = Symbol('late')

/** Calls of the host, outside of requests and transactions. */
export interface HostQueue<T> {
  add(item: T): void
  /** Resolves when nothing waits and no call is in progress. */
  idle(): Promise<void>
  /** Waits a short time for what waits, and drops the rest; of calls in progress it keeps no timer. */
  close(): Promise<void>
}

/**
 * Creates a queue whose items each become any number of calls. A call that fails or takes too long is logged and counted,
 * and not repeated.
 *
 * @param deps.callsOf the calls of an item, found when it is its turn
 * @param deps.sizeOf the number of notifications or messages that an item keeps in memory
 * @param deps.onEnd called at the end of each call
 */
export function createHostQueue<T>(deps: {
  name: string
  callsOf: (item: T) => AsyncIterable<() => unknown>
  sizeOf: (item: T) => number
  onEnd: (isDone: boolean) => void
  log: Log
}): HostQueue<T> {
  const { name, callsOf, sizeOf, onEnd, log } = deps
  const waiting: T[] = []
  let size = 0
  const closing = new AbortController()
  const { signal } = closing
  // Each call in progress listens.
  setMaxListeners(CONCURRENCY, signal)
  const { call, failed } = createCalling({ name, onEnd, log, signal })
  const dropped = warnOnce(() => log.warn(`${name} is too slow: ${MAX_WAITING} wait, new ones are dropped`))
  const workers = createWorkers({ concurrency: CONCURRENCY, next: () => waiting.shift(), work, onIdle: dropped.reset })

  async function work(item: T): Promise<void> {
    size -= sizeOf(item)
    try {
      for await (const step of callsOf(item)) {
        if (!signal.aborted) await call(step)
        // Before the next step is looked up: the storage may be closed.
        if (signal.aborted) break
      }
    } catch (error) {
      failed(error)
    }
  }

  return {
    add(item) {
      if (signal.aborted) return
      if (size + sizeOf(item) > MAX_WAITING) return dropped()
      waiting.push(item)
      size += sizeOf(item)
      workers.wake()
    },
    idle: workers.idle,
    async close() {
      await withDeadline(workers.idle(), CLOSE_MS, undefined)
      waiting.length = size = 0
      closing.abort()
    },
  }
}

/**
 * Calls the host, and counts how the calls end. Of several failures in a row the log has the first.
 *
 * @param deps.signal ends the wait for the calls in progress
 */
function createCalling(deps: { name: string; onEnd: (isDone: boolean) => void; log: Log; signal: AbortSignal }) {
  const { name, onEnd, log, signal } = deps
  const warn = warnOnce((cause: string) => log.warn(`${name} has failed`, { cause }))

  function failed(error: unknown): void {
    onEnd(false)
    warn(causeText(error))
  }

  async function call(step: () => unknown): Promise<void> {
    try {
      const answer = await withDeadline(Promise.resolve().then(step), TIMEOUT_MS, LATE, signal)
      if (answer === LATE && signal.aborted) return failed(new Error('the service was closed before it ended'))
      if (answer === LATE) return failed(new Error(`it took longer than ${TIMEOUT_MS} ms`))
      onEnd(true)
      warn.reset()
    } catch (error) {
      failed(error)
    }
  }

  return { call, failed }
}
