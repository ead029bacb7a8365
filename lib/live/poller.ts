import type { Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import type { Database } from '../storage/database.ts'
import type { Hub } from './hub.ts'

/** How soon another process's events are noticed. A look costs SQLite 2 µs, PostgreSQL one short query. */
const POLL_MS = 150

/** Notices what other processes have changed. */
export type Bus = ReturnType<typeof createBus>

/**
 * Wakes the hub when somebody else has written: another node, or a command beside the server.
 *
 * It carries no message, only "something changed"; the tables say what.
 */
export function createBus(db: Database, hub: Hub, log: Log) {
  let token: string | undefined
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let failing = false

  async function look(): Promise<void> {
    try {
      const current = await db.changeToken()
      if (hub.hasFailed() || current !== token) {
        // Known only when all is done: after trouble with the storage the next look tries again.
        token = undefined
        await hub.catchUpAll()
        await hub.recheck()
        token = current
      } else if (hub.hasExpired()) await hub.recheck()
      failing = false
    } catch (error) {
      if (!failing) log.warn('Changes of other processes cannot be seen', { cause: causeText(error) })
      failing = true
    }
  }

  const poll = (): Promise<void> => (looking ??= look().finally(() => (looking = undefined)))

  return {
    start(): void {
      // After trouble it looks on even for nobody, since the service is not ready until a look succeeds.
      timer ??= setInterval(() => (failing || !hub.isIdle()) && void poll(), POLL_MS).unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      timer = undefined
      await looking
    },
    /** Looks now. */
    poll,
    isFailing: () => failing,
  }
}
