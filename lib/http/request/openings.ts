import type { MayContinue } from '../../core/scheduling/request-priority.ts'

/** How many streams are opened in one turn of the event loop; what they look up is looked up together. */
const BATCH = 32

/** Lets requests for streams begin. */
export type Openings = ReturnType<typeof createOpenings>

/**
 * Creates the queue of requests for streams.
 *
 * When thousands of clients come back at the same moment, and each stream is opened as soon as its request is read, every
 * turn of the event loop is long: a client with any other request waits until all connections before its own are accepted,
 * and each stream is looked up alone. So streams wait while requests arrive, and some of them are opened together.
 *
 * @param mayGoOn is asked in each turn while streams wait
 */
export function createOpenings(mayGoOn: () => MayContinue) {
  const waiting: (() => void)[] = []
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return
    isScheduled = true
    setImmediate(openNext)
  }

  function openNext(): void {
    isScheduled = false
    if (mayGoOn()) for (const begin of waiting.splice(0, BATCH)) begin()
    schedule()
  }

  return {
    /** Resolves when a request for a stream may begin. */
    turn: (): Promise<void> =>
      new Promise((resolve) => {
        waiting.push(resolve)
        schedule()
      }),
  }
}
