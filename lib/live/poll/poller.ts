import type { Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { createMissedIntervals } from '../../core/scheduling/missed-intervals.ts'
import { singleFlight, warnOnce } from '../../core/scheduling/once.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { Database } from '../../storage/database.ts'
import type { Hub } from '../hub/hub.ts'
import { createChanges } from './changes.ts'

/** The time between two checks of the rights of some streams: a right may also end by hand in the database. */
const ROUND_MS = 2_000

/** After a longer pause, of this process or of its readers, everything that it follows is checked. */
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

/** Delivers what other processes have committed since the last time, or whatever is new. */
function createFollowing({ db, hub, metrics }: PollerDeps, missed: ReturnType<typeof createMissedIntervals>) {
  const changes = createChanges(db)
  let mustLookAtAll = false
  return {
    async follow(): Promise<void> {
      if (mustLookAtAll) changes.forget()
      mustLookAtAll = false
      const began = performance.now()
      const result = await changes.find()
      metrics.polled((performance.now() - began) / 1000)
      await missed.act(() => deliver(result, began))
    },
    /** The next poll checks everything. */
    forget(): void {
      mustLookAtAll = true
    },
  }

  async function deliver(result: Awaited<ReturnType<typeof changes.find>>, began: number): Promise<void> {
    await (result.changes ? hub.rights.recheckConcerned(result.changes.revocations) : hub.rights.recheckAll())
    hub.rights.knownAt(began)
    await (result.changes ? hub.catchUp(result.changes.conversations) : hub.catchUpAll())
    result.accept()
    if (result.changes) metrics.foundNew(result.changes.conversations.length)
  }
}

/** Looks up rights that may have ended. Not part of a poll: a lock on some sessions must not keep other readers from events. */
function createRecheck({ hub, log }: PollerDeps) {
  let checked = performance.now()
  const fail = warnOnce((error: unknown) =>
    log.warn('The rights of readers cannot be looked up', { cause: causeText(error) }),
  )
  return singleFlight(async () => {
    try {
      await hub.rights.recheckExpired()
      const isDue = performance.now() - checked >= ROUND_MS
      if (isDue) checked = performance.now()
      if (isDue) await hub.rights.recheckNext()
      fail.reset()
    } catch (error) {
      fail(error)
    }
  })
}

/** Makes the hub deliver what another process has committed: another node, or a command beside the server. */
export function createPoller(deps: PollerDeps) {
  const { hub, log, poll_ms } = deps
  const missed = createMissedIntervals(poll_ms)
  const { follow, forget } = createFollowing(deps, missed)
  let succeeded = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  const fail = warnOnce((error: unknown) =>
    log.warn('Changes of other processes cannot be seen', { cause: causeText(error) }),
  )

  const recheck = createRecheck(deps)

  const follows = singleFlight(async () => {
    try {
      // What was missed is unknown, also which look-up of rights has failed.
      if (hub.hasFailed() || performance.now() - succeeded > PAUSE_MS) forget()
      await follow()
      succeeded = performance.now()
      missed.arrived()
      fail.reset()
    } catch (error) {
      // What happened since is unknown, also to a database that has taken over from another.
      forget()
      fail(error)
    }
  })

  /** Looks up rights that may have ended, and delivers what is new. */
  const poll = (): Promise<void> => recheck().then(follows)

  return {
    start(): void {
      timer ??= setInterval(() => {
        // After a failure it polls also without streams: the service is not ready until a poll succeeds.
        if (!hub.isListening() && !fail.isReported()) return
        missed.expect()
        void recheck()
        void follows()
      }, poll_ms).unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      timer = undefined
      await Promise.all([recheck.current(), follows.current()])
    },
    /** Polls now. */
    poll: Object.assign(poll, { current: follows.current }),
    /** Polls now, and checks everything: numbers of transactions may have come again. */
    async lookAtAll(): Promise<void> {
      forget()
      // One in progress has looked already.
      await follows.current()
      await poll()
    },
    /** How long ago a poll has last succeeded, in milliseconds; 0 while none is needed. */
    age: missed.age,
    /** Whether no poll has succeeded for a while. */
    isLate: missed.isLate,
  }
}
