import type { Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import { singleFlight, warnOnce } from '../core/once.ts'
import type { Database } from '../storage/database.ts'
import type { Hub } from './hub.ts'
import { findRevocations } from './log.ts'

/** The maximum delay of events of other processes. A poll costs SQLite 2 µs, PostgreSQL one short query. */
const POLL_MS = 150

/**
 * After a commit of another process that counted no revocation, all rights are looked up within this time: a right may also
 * end by hand in the database.
 */
const RECHECK_MS = 2_000

/** Detects commits of other processes. */
export type Poller = ReturnType<typeof createPoller>

/**
 * Makes the hub read its logs after another process has committed: another node, or a command beside the server.
 *
 * The database reports only that data has changed; the hub reads the changes from the tables.
 */
export function createPoller(db: Database, hub: Hub, log: Log) {
  let token: string | undefined
  let checked = { revocations: undefined as string | undefined, at: Number.NEGATIVE_INFINITY }
  let isUnchecked = false
  let timer: NodeJS.Timeout | undefined
  const fail = warnOnce((error: unknown) =>
    log.warn('Changes of other processes cannot be seen', { cause: causeText(error) }),
  )

  /** Looks up the rights of all streams if another process may have ended one. */
  async function recheckRevoked(): Promise<void> {
    const revocations = await findRevocations(db)
    const now = performance.now()
    isUnchecked = true
    if (revocations === checked.revocations && now - checked.at < RECHECK_MS) return
    await hub.recheck()
    checked = { revocations, at: now }
    isUnchecked = false
  }

  const poll = singleFlight(async () => {
    try {
      const current = await db.changeToken()
      const failed = hub.hasFailed()
      // It may have been the look-up of rights that failed.
      if (failed) checked.at = Number.NEGATIVE_INFINITY
      if (failed || current !== token) {
        // Set again only after a complete run: after a storage failure the next poll runs again.
        token = undefined
        await hub.catchUpAll()
        await recheckRevoked()
        token = current
      } else if (isUnchecked && performance.now() - checked.at >= RECHECK_MS) await recheckRevoked()
      if (hub.hasExpired()) await hub.recheck()
      fail.reset()
    } catch (error) {
      // What happened meanwhile is unknown, also to a database that has taken over from another.
      checked.at = Number.NEGATIVE_INFINITY
      fail(error)
    }
  })

  return {
    start(): void {
      // After a failure it polls also without streams: the service is not ready until a poll succeeds.
      timer ??= setInterval(() => (fail.isReported() || !hub.isIdle()) && void poll(), POLL_MS).unref()
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
