import type { Cluster } from '../cluster/cluster.ts'
import type { Log } from '../context.ts'
import type { Lifecycle } from '../core/lifecycle.ts'
import { withDeadline } from '../core/scheduling/deadline.ts'
import type { Hub } from '../live/hub/hub.ts'
import type { Poller } from '../live/poll/poller.ts'
import type { Database } from '../storage/database.ts'
import { listMigrations } from '../storage/schema/migrate.ts'

/** The failures that make the service not ready, with the text for each. */
export const FAILURES = {
  database: 'does not answer',
  migrations: 'are not all applied',
  start: 'the service is not started',
  bus: 'changes of other processes are not seen, while another process sees them',
  clock: 'the clock of this machine is wrong',
  draining: 'the service is stopping',
}

/** The name of a failure that makes the service not ready. */
export type Failure = keyof typeof FAILURES

/** Timeout of a probe for the database: Kubernetes gives up after a second, and would not receive the failed checks. */
const PROBE_TIMEOUT_MS = 800

/** An older check is not awaited any more: its connection may be dead. */
const STALE_MS = 5_000

/** Reports the failed checks. */
export interface Readiness {
  /** The failures at this moment, within a second in any case; empty if the service is ready. */
  failures(): Promise<Failure[]>
}

/** Checks the database on request; concurrent callers share one check. Each change is logged. */
export function createReadiness(deps: {
  db: Database
  poller: Poller
  cluster: Cluster
  hub: Hub
  log: Log
  lifecycle: Lifecycle
}): Readiness {
  const { db, poller, cluster, hub, log, lifecycle } = deps
  let current: { since: number; found: Promise<Failure | undefined> } | undefined
  let logged = ''

  function sharedCheck(): Promise<Failure | undefined> {
    const since = performance.now()
    if (current && since - current.since < STALE_MS) return current.found
    const check = { since, found: checkDatabase(db) }
    current = check
    void check.found.then(() => {
      if (current === check) current = undefined
    })
    return check.found
  }

  /** A lock that keeps all nodes from hearing each other must not take all of them out of a load balancer. */
  async function isDeafAlone(): Promise<boolean> {
    if (!poller.isLate() && !cluster.isLate()) return false
    // Where the nodes cannot be read, that is not the failure of this one.
    return cluster.anotherNodePolls(Math.max(poller.age(), cluster.age())).catch(() => false)
  }

  return {
    async failures() {
      const [found, isDeaf] = await Promise.all([
        withDeadline(sharedCheck(), PROBE_TIMEOUT_MS, 'database' as const),
        withDeadline(isDeafAlone(), PROBE_TIMEOUT_MS, false),
      ])
      const failing: Failure[] = found ? [found] : []
      if (failing.length === 0 && lifecycle.state !== 'started') failing.push('start')
      if (isDeaf) failing.push('bus')
      if (cluster.isClockWrong()) failing.push('clock')
      if (hub.isDraining()) failing.push('draining')
      const names = failing.join(', ')
      if (names !== logged) {
        if (names) log.warn('Not ready', { failing })
        else log.info('Ready again')
      }
      logged = names
      return failing
    },
  }
}

async function checkDatabase(db: Database): Promise<Failure | undefined> {
  try {
    const steps = await listMigrations(db)
    return steps.every((step) => step.applied_at) ? undefined : 'migrations'
  } catch {
    return 'database'
  }
}
