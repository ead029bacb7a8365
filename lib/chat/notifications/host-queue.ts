import type { Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { withDeadline } from '../../core/scheduling/deadline.ts'
import { warnOnce } from '../../core/scheduling/once.ts'

/** The maximum number of notifications and messages that wait. Further ones are dropped: a slow host costs no memory. */
const MAX_WAITING = 100_000

/** How many calls of the host are in progress at the same time. */
const CONCURRENCY = 16

/** How long the host may take for a call; its result is ignored then. */
const TIMEOUT_MS = 10_000

/** How long `close` waits for what was committed before. */
const CLOSE_MS = 2_000

const LATE = Symbol('late')
const CLOSED = Symbol('closed')

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
  const emptied: (() => void)[] = []
  let size = 0
  let working = 0
  let isClosed = false
  const { call, failed, abandon } = createCalling(name, onEnd, log)
  const dropped = warnOnce(() => log.warn(`${name} is too slow: ${MAX_WAITING} wait, new ones are dropped`))

  async function work(): Promise<void> {
    working++
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      size -= sizeOf(item)
      try {
        for await (const step of callsOf(item)) {
          if (!isClosed) await call(step)
          // Before the next step is looked up: the storage may be closed.
          if (isClosed) break
        }
      } catch (error) {
        failed(error)
      }
    }
    working--
    if (working > 0) return
    dropped.reset()
    for (const resolve of emptied.splice(0)) resolve()
  }

  const idle = () => (working === 0 ? Promise.resolve() : new Promise<void>((resolve) => emptied.push(resolve)))

  return {
    add(item) {
      if (isClosed) return
      if (size + sizeOf(item) > MAX_WAITING) return dropped()
      waiting.push(item)
      size += sizeOf(item)
      if (working < CONCURRENCY) void work()
    },
    idle,
    async close() {
      await withDeadline(idle(), CLOSE_MS, undefined)
      isClosed = true
      waiting.length = size = 0
      abandon()
    },
  }
}

/** Calls the host, and counts how the calls end. Of several failures in a row the log has the first. */
function createCalling(name: string, onEnd: (isDone: boolean) => void, log: Log) {
  const warn = warnOnce((cause: string) => log.warn(`${name} has failed`, { cause }))
  const inProgress = new Set<() => void>()

  function failed(error: unknown): void {
    onEnd(false)
    warn(causeText(error))
  }

  return {
    failed,
    /** Ends the waiting for the calls in progress. */
    abandon(): void {
      for (const end of inProgress) end()
    },
    async call(step: () => unknown): Promise<void> {
      let end = () => {}
      const closed = new Promise<typeof CLOSED>((resolve) => {
        end = () => resolve(CLOSED)
      })
      inProgress.add(end)
      try {
        const answer = await withDeadline(Promise.race([Promise.resolve().then(step), closed]), TIMEOUT_MS, LATE)
        if (answer === CLOSED) return failed(new Error('the service was closed before it ended'))
        if (answer === LATE) return failed(new Error(`it took longer than ${TIMEOUT_MS} ms`))
        onEnd(true)
        warn.reset()
      } catch (error) {
        failed(error)
      } finally {
        inProgress.delete(end)
      }
    },
  }
}
