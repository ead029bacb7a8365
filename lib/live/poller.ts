import type { Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import { singleFlight, warnOnce } from '../core/once.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Database } from '../storage/database.ts'
import { createChanges } from './changes.ts'
import type { Hub } from './hub.ts'

/** The time between two looks at the rights of some streams: a right may also end by hand in the database. */
const ROUND_MS = 2_000

/** After a longer pause, of this process or of its readers, everything that it follows is looked at. */
const PAUSE_MS = 60_000

interface PollerDeps {
  db: Database
  hub: Hub
  log: Log
  metrics: Metrics
  /** The maximum delay of events of other processes. A poll costs SQLite 4 µs, PostgreSQL one short query. */
  poll_ms: number
}

/** Detects commits of other processes. */
export type Poller = ReturnType<typeof createPoller>

/** Makes the hub deliver what another process has committed: another node, or a command beside the server. */
export function createPoller({ db, hub, log, metrics, poll_ms }: PollerDeps) {
  const changes = createChanges(db)
  let succeeded = Number.NEGATIVE_INFINITY
  let checked = performance.now()
  let timer: NodeJS.Timeout | undefined
  const fail = warnOnce((error: unknown) =>
    log.warn('Changes of other processes cannot be seen', { cause: causeText(error) }),
  )

  async function follow(): Promise<void> {
    // What was missed is unknown, also which look-up of rights has failed.
    if (hub.hasFailed() || performance.now() - succeeded > PAUSE_MS) changes.forget()
    const began = performance.now()
    const found = await changes.find()
    await (found.changes ? hub.rights.recheckConcerned(found.changes.revocations) : hub.rights.recheckAll())
    hub.rights.knownAt(began)
    await (found.changes ? hub.catchUp(found.changes.conversations) : hub.catchUpAll())
    found.accept()
    if (found.changes) metrics.foundNew(found.changes.conversations.length)
  }

  const poll = singleFlight(async () => {
    try {
      await hub.rights.recheckExpired()
      if (performance.now() - checked >= ROUND_MS) {
        checked = performance.now()
        await hub.rights.recheckNext()
      }
      await follow()
      succeeded = performance.now()
      fail.reset()
    } catch (error) {
      // What happened meanwhile is unknown, also to a database that has taken over from another.
      changes.forget()
      fail(error)
    }
  })

  return {
    start(): void {
      // After a failure it polls also without streams: the service is not ready until a poll succeeds.
      timer ??= setInterval(() => (fail.isReported() || !hub.isIdle()) && void poll(), poll_ms).unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      timer = undefined
      await poll.current()
    },
    /** Polls now. */
    poll,
    isFailing: fail.isReported,
  }
}
