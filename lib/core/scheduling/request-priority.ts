/** How long what arrives has precedence. */
const MAX_WAIT_MS = 50

/**
 * Whether work that can wait may continue; `overdue` if requests in every turn have kept it waiting for an interval.
 */
export type MayContinue = boolean | 'overdue'

/**
 * Creates the rule of work that can wait while requests arrive: it continues in a turn of the event loop in which none
 * has arrived, and at intervals when some arrive in every turn.
 *
 * Node accepts one connection in each turn: after a restart, when thousands of clients come back, the turns must be short, or
 * the last one waits for long before it is accepted.
 *
 * @param arrivals the number of requests so far
 * @param now milliseconds
 * @returns a function that is called once in each turn, and returns whether the work may continue
 */
export function createRequestPriority(
  arrivals: () => number,
  now: () => number = () => performance.now(),
): () => MayContinue {
  let seen = arrivals()
  let last = Number.NEGATIVE_INFINITY
  let isKeptWaiting = false
  return () => {
    const count = arrivals()
    const isQuiet = count === seen
    seen = count
    const isOverdue = !isQuiet && isKeptWaiting
    isKeptWaiting = !isQuiet && now() - last < MAX_WAIT_MS
    if (isKeptWaiting) return false
    last = now()
    return isOverdue ? 'overdue' : true
  }
}
