/** How many streams are opened in one turn of the event loop; what they look up is looked up together. */
const BATCH = 32

/** How long other requests have precedence. */
const PATIENCE_MS = 50

/** Lets requests for streams begin. */
export type Openings = ReturnType<typeof createOpenings>

/**
 * Creates the queue of requests for streams.
 *
 * Node accepts one connection in each turn of the event loop. When thousands of clients come back at the same moment, and
 * each stream is opened as soon as its request is read, every turn is long: a client with any other request waits until
 * all connections before its own are accepted, and each stream is looked up alone. So streams wait for a turn in which
 * nothing has arrived, or for a short time, and some of them are opened together.
 *
 * @param now milliseconds
 */
export function createOpenings(now: () => number = () => performance.now()) {
  const waiting: (() => void)[] = []
  let hasArrived = false
  let isScheduled = false
  let last = 0

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return
    isScheduled = true
    setImmediate(look)
  }

  function look(): void {
    isScheduled = false
    if (!hasArrived || now() - last >= PATIENCE_MS) {
      last = now()
      for (const begin of waiting.splice(0, BATCH)) begin()
    }
    hasArrived = false
    schedule()
  }

  return {
    /** Notes that a request has arrived. */
    arrived(): void {
      hasArrived = true
    },

    /** Resolves when a request for a stream may begin. */
    turn(): Promise<void> {
      if (waiting.length === 0) last = now()
      return new Promise((resolve) => {
        waiting.push(resolve)
        schedule()
      })
    },
  }
}
