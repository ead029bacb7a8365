import { wasMissing } from '../backups/place.ts'
import { overdueFor } from '../backups/rules.ts'
import { findState } from '../backups/store.ts'
import { countWaiting } from '../chat/search/store.ts'
import type { Context } from '../context.ts'
import { withDeadline } from '../core/deadline.ts'
import { parseSchedule } from '../core/schedule.ts'
import { SECOND } from '../core/time.ts'
import type { Levels } from '../metrics/registry.ts'
import { countDueTasks } from '../tasks/store.ts'

/** A database that does not respond must not delay the page for longer; a worker has a second for all of it. */
const DATABASE_MS = 500

async function readBackups({ db, config, now }: Context): Promise<Levels['backups']> {
  const schedule = config.backup.schedule === undefined ? undefined : parseSchedule(config.backup.schedule)
  const state = schedule && (await findState(db))
  if (!state) return { last_success: 0, overdue_seconds: 0 }
  return {
    last_success: (state.succeeded_at ?? 0) / SECOND,
    is_missing: wasMissing(state),
    overdue_seconds: overdueFor(schedule, state, now()) / SECOND,
  }
}

function differenceOf({ clock }: Context): number | undefined {
  const difference = clock.difference()
  return difference === undefined ? undefined : difference / SECOND
}

/** The values that are read for a page of metrics; those that cannot be read in time are `undefined`. */
export async function readLevels(ctx: Context): Promise<Levels> {
  // The page returns all other metrics while the storage fails.
  const inTime = <T>(level: Promise<T>) => withDeadline(level, DATABASE_MS, undefined).catch(() => undefined)
  const [tasks, backups, search_waiting, database] = await Promise.all([
    inTime(countDueTasks(ctx.db)),
    inTime(readBackups(ctx)),
    inTime(countWaiting(ctx.db)),
    ctx.databaseLevels(),
  ])
  return {
    clock: { step: ctx.clock.step() / SECOND, difference: differenceOf(ctx) },
    streams: ctx.hub.size(),
    answers: ctx.answers.size(),
    nodes: ctx.cluster.countNodes(),
    tasks,
    backups,
    database,
    search_waiting,
    files_missing: ctx.filesPlace.isMissing(),
    log_lines_dropped: ctx.log.dropped?.() ?? 0,
  }
}
