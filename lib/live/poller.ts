import type { Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import { singleFlight, warnOnce } from '../core/once.ts'
import type { Database } from '../storage/database.ts'
import type { Hub } from './hub.ts'

/** The maximum delay of events of other processes. A poll costs SQLite 2 µs, PostgreSQL one short query. */
const POLL_MS = 150

/** Detects commits of other processes. */
export type Poller = ReturnType<typeof createPoller>

/**
 * Makes the hub read its logs after another process has committed: another node, or a command beside the server.
 *
 * The database reports only that data has changed; the hub reads the changes from the tables.
 */
export function createPoller(db: Database, hub: Hub, log: Log) {
  let token: string | undefined
  let timer: NodeJS.Timeout | undefined
  const fail = warnOnce((error: unknown) =>
    log.warn('Changes of other processes cannot be seen', { cause: causeText(error) }),
  )

  const poll = singleFlight(async () => {
    try {
      const current = await db.changeToken()
      if (hub.hasFailed() || current !== token) {
        // Set again only after a complete run: after a storage failure the next poll runs again.
        token = undefined
        await hub.catchUpAll()
        await hub.recheck()
        token = current
      } else if (hub.hasExpired()) await hub.recheck()
      fail.reset()
    } catch (error) {
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
