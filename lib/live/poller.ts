import type { Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import { singleFlight, warnOnce } from '../core/once.ts'
import type { Database } from '../storage/database.ts'
import type { Hub } from './hub.ts'

/** How soon another process's events are noticed. A look costs SQLite 2 µs, PostgreSQL one short query. */
const POLL_MS = 150

/** Notices what other processes have changed. */
export type Bus = ReturnType<typeof createBus>

/**
 * Wakes the hub when another process has written: another node, or a command beside the server.
 *
 * It carries no message, only "something changed"; the tables say what.
 */
export function createBus(db: Database, hub: Hub, log: Log) {
  let token: string | undefined
  let timer: NodeJS.Timeout | undefined
  const fail = warnOnce((error: unknown) =>
    log.warn('Changes of other processes cannot be seen', { cause: causeText(error) }),
  )

  const poll = singleFlight(async () => {
    try {
      const current = await db.changeToken()
      if (hub.hasFailed() || current !== token) {
        // Known only when all is done: after trouble with the storage the next poll tries again.
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
      // After a failure it polls even without streams, since the service is not ready until a poll succeeds.
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
