import type { Log } from '../context.ts'
import { withDeadline } from '../core/deadline.ts'
import type { Hub } from '../live/hub.ts'
import type { Bus } from '../live/poller.ts'
import type { Database } from '../storage/database.ts'
import { listMigrations } from '../storage/schema/migrate.ts'

/** What can keep the service from its work, and what is said of it. */
export const OBSTACLES = {
  database: 'does not answer',
  migrations: 'are not all applied',
  bus: 'changes of other processes are not seen',
  draining: 'the service is stopping',
}

/** The name of something that keeps the service from its work. */
export type Obstacle = keyof typeof OBSTACLES

/** How long a probe waits for the database: Kubernetes gives up after a second, and would not hear what fails. */
const PROBE_MS = 800

/** A look that is older is not waited for any more: what it was sent over may be gone for good. */
const STALE_MS = 5_000

/** Tells what keeps the service from its work. */
export interface Readiness {
  /** What does at this moment, within a second whatever happens; nothing when it is ready. */
  obstacles(): Promise<Obstacle[]>
}

/** Looks at the database when asked, one look for all who ask meanwhile; a change is a line of the log. */
export function createReadiness(deps: { db: Database; bus: Bus; hub: Hub; log: Log }): Readiness {
  const { db, bus, hub, log } = deps
  let looking: { since: number; found: Promise<Obstacle | undefined> } | undefined
  let told = ''

  function look(): Promise<Obstacle | undefined> {
    const since = performance.now()
    if (looking && since - looking.since < STALE_MS) return looking.found
    const mine = { since, found: lookAt(db) }
    looking = mine
    void mine.found.then(() => {
      if (looking === mine) looking = undefined
    })
    return mine.found
  }

  return {
    async obstacles() {
      const found = await withDeadline(look(), PROBE_MS, 'database')
      const failing: Obstacle[] = found ? [found] : []
      if (bus.isFailing()) failing.push('bus')
      if (hub.isDraining()) failing.push('draining')
      const names = failing.join(', ')
      if (names !== told) {
        if (names) log.warn('Not ready', { failing })
        else log.info('Ready again')
      }
      told = names
      return failing
    },
  }
}

async function lookAt(db: Database): Promise<Obstacle | undefined> {
  try {
    const steps = await listMigrations(db)
    return steps.every((step) => step.applied_at) ? undefined : 'migrations'
  } catch {
    return 'database'
  }
}
