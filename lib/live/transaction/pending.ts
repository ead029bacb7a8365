import type { Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { singleFlight } from '../../core/scheduling/once.ts'
import type { Database } from '../../storage/database.ts'
import { jsonList, sql } from '../../storage/sql.ts'

/** A host commits a moment after `withTransaction`; a transaction that stays open is checked less often. */
const FIRST_MS = 20
const MAX_MS = 1_000

/** More are forgotten: the poller finds their events, and only ephemeral ones are lost. */
const MAX_PENDING = 10_000

/** What remains to be done after a transaction of the host, if the host commits it. */
interface Entry {
  xid: string
  run: () => Promise<void>
}

/** Transactions of the host that are not known to have ended. */
export type Pending = ReturnType<typeof createPending>

/** Does what follows a commit once PostgreSQL reports it, and forgets it after a rollback. */
export function createPending(db: Database, log: Log) {
  let entries: Entry[] = []
  let timer: NodeJS.Timeout | undefined
  let delay = FIRST_MS

  const settle = singleFlight(async () => {
    if (entries.length === 0) return
    const asked = entries
    const rows = await db.all<{ xid: string; status: string | null }>(
      sql`SELECT xid, pg_xact_status(xid::xid8) AS status
         FROM (SELECT DISTINCT jsonb_array_elements_text(${jsonList(asked.map(({ xid }) => xid))}::jsonb) AS xid) AS given`,
    )
    const statuses = new Map(rows.map(({ xid, status }) => [xid, status]))
    const isOpen = ({ xid }: Entry) => !statuses.has(xid) || statuses.get(xid) === 'in progress'
    entries = entries.filter(isOpen)
    // In their order, for a host that hears of events.
    for (const entry of asked) if (statuses.get(entry.xid) === 'committed') await entry.run()
  })

  function watch(): void {
    timer ??= setTimeout(async () => {
      await settle().catch((error) => log.debug('A transaction of the host is not known', { cause: causeText(error) }))
      timer = undefined
      delay = Math.min(2 * delay, MAX_MS)
      if (entries.length > 0) watch()
    }, delay).unref()
  }

  return {
    add(xid: string, run: () => Promise<void>): void {
      entries = [...entries.slice(-MAX_PENDING + 1), { xid, run }]
      delay = FIRST_MS
      watch()
    },
    /** Asks now. */
    settle,
    size: () => entries.length,
    close(): void {
      clearTimeout(timer)
      entries = []
    },
  }
}
