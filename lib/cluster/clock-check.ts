import type { Config } from '../config/parse.ts'
import type { Log } from '../context.ts'
import type { Clock } from '../core/clock.ts'
import { describeStep } from '../core/clock-trust.ts'
import { SECOND } from '../core/units.ts'
import type { Database } from '../storage/database.ts'
import { hasAgreeingNode } from './store.ts'

/** A larger difference between the clocks of a node and of the database is worth a warning. */
export const CLOCK_DIFFERENCE = 5 * SECOND

/** With a larger one the node takes no requests, while another one with the right clock does. */
const WRONG_CLOCK = 60 * SECOND

interface ClockCheckDeps {
  db: Database
  log: Log
  clock: Clock
  config: { cluster: Pick<Config['cluster'], 'dead_seconds'> }
}

/**
 * Compares the clock of this machine with that of the database, as heartbeats show it. Instants do not depend on it: it is
 * a sign of a machine that needs care, whose certificates and logs are wrong.
 */
export function createClockCheck(id: string, { db, log, clock, config }: ClockCheckDeps) {
  let isReported = false
  let isWrong = false

  return {
    /** Whether the clock of this machine is wrong, while another node agrees with the database's. */
    isWrong: () => isWrong,
    async check(): Promise<void> {
      const difference = clock.difference() ?? 0
      const isLarge = Math.abs(difference) > CLOCK_DIFFERENCE
      if (isLarge && !isReported)
        log.warn(
          `The clock of this machine is ${describeStep(-difference)}${difference < 0 ? ' of' : ''} the clock of the database, which the service uses. Synchronise both by NTP`,
        )
      if (!isLarge && isReported) log.info('The clock of this machine agrees with the clock of the database again')
      isReported = isLarge
      // If all differ from the database, its clock is the wrong one, and no node is to stop for it.
      isWrong =
        Math.abs(difference) > WRONG_CLOCK &&
        (await hasAgreeingNode(db, id, { deadAfter: config.cluster.dead_seconds * SECOND, most: CLOCK_DIFFERENCE }))
    },
  }
}
