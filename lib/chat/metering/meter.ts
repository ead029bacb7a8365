import type { Config } from '../../config/parse.ts'
import type { Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { withDeadline } from '../../core/scheduling/deadline.ts'
import { toInstant } from '../../core/time.ts'
import { DAY } from '../../core/units.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { Queries } from '../../storage/database.ts'
import type { TaskHandler, TaskOutcome } from '../../tasks/runner.ts'
import type { NewTask } from '../../tasks/store.ts'
import type { MeterEntry } from './entry.ts'
import { type EntryRow, findEntry } from './store.ts'

/** How long the host may take. */
const TIMEOUT_MS = 10_000

/** How long an entry is offered to the host. */
const MAX_AGE = 3 * DAY

/** When a process without the port looks again: another one may have it. */
const WITHOUT_PORT_SECONDS = 30

/** The task that tells the host of an entry. */
export function meterTask({ message_id, kind }: Pick<EntryRow, 'message_id' | 'kind'>): NewTask {
  return { kind: 'usage.meter', key: kind === 'answer' ? message_id : `${message_id}.${kind}` }
}

/** Tells the host of entries, each at least once: one that the host does not take is offered again, for three days. */
export function createMeter({
  meter,
  config,
  db,
  metrics,
  log,
  now,
}: {
  meter: ((entry: MeterEntry) => unknown) | undefined
  config: Config
  db: Queries
  metrics: Pick<Metrics, 'taskFailed'>
  log: Log
  now: () => number
}): TaskHandler {
  return async ({ key, detail }): Promise<TaskOutcome> => {
    const [message_id = '', kind = 'answer'] = key.split('.')
    const row = await findEntry(db, message_id, kind)
    // Retention has deleted it.
    if (!row) return { done: true }
    const since = Number(detail.since ?? now())
    if (now() - since > MAX_AGE) {
      log.warn('The host has not taken what an answer used', { message_id })
      return { done: true }
    }
    if (!meter) return { done: false, detail: { since }, delay_seconds: WITHOUT_PORT_SECONDS }
    try {
      const isTaken = Promise.resolve(meter(toMeterEntry(row, config.usage.currency))).then(() => true)
      if (await withDeadline(isTaken, TIMEOUT_MS, false)) return { done: true }
      log.warn('ports.meter took too long, and is called again', { message_id })
    } catch (error) {
      log.warn('ports.meter has failed, and is called again', { message_id, cause: causeText(error) })
    }
    metrics.taskFailed('usage.meter')
    const tries = Number(detail.tries ?? 0) + 1
    return { done: false, detail: { since, tries }, delay_seconds: Math.min(2 ** tries, 3600) }
  }
}

function toMeterEntry({ at, user_id, estimated, ...row }: EntryRow, currency: string): MeterEntry {
  return {
    ...row,
    at: toInstant(at),
    ...(user_id !== null && { user_id }),
    currency,
    ...(estimated === 1 && { estimated: true }),
  }
}
