import { dirname } from 'node:path'
import { openTarget } from '../backups/backups.ts'
import { wasMissing } from '../backups/place.ts'
import { overdueFor } from '../backups/rules.ts'
import { findState } from '../backups/store.ts'
import { countWaiting } from '../chat/search/store.ts'
import type { Context } from '../context.ts'
import { withDeadline } from '../core/scheduling/deadline.ts'
import { parseSchedule } from '../core/scheduling/schedule.ts'
import { SECOND } from '../core/units.ts'
import type { Levels } from '../metrics/registry.ts'
import { findDatabaseFile } from '../storage/place.ts'
import { readSpace, type Space } from '../storage/space.ts'
import { countDueTasks } from '../tasks/store.ts'
import { FAILURES } from './readiness.ts'

/** A database that does not respond must not delay the page for longer; a worker has a second for all of it. */
const DATABASE_TIMEOUT_MS = 500

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

/** The check of the database has a deadline of its own, and it is the failure that must show. */
const READY_TIMEOUT_MS = 900

async function readReady(ctx: Context): Promise<Record<string, boolean>> {
  const failing: readonly string[] = await ctx.ops.readiness.failures()
  const checks = Object.keys(FAILURES).map((check): [string, boolean] => [check, !failing.includes(check)])
  if (ctx.config.attachments.enabled) checks.push(['attachments', !ctx.files.place.isMissing()])
  return Object.fromEntries(checks)
}

/** The free bytes of the disks of this machine. A bucket has none, and where PostgreSQL stores is not known. */
async function readDisks({ db, config, files }: Context): Promise<Record<string, number>> {
  const { target } = config.backup
  const spaces = {
    database: db.dialect === 'sqlite' ? findDatabaseFile(db).then(spaceOfFile) : undefined,
    files: config.attachments.enabled ? files.open().then((store) => store.space()) : undefined,
    backups: target === undefined ? undefined : openTarget(config).space?.(),
  }
  const disks = await Promise.all(
    Object.entries(spaces).map(async ([of, space]) => {
      const free = (await withDeadline(Promise.resolve(space), DATABASE_TIMEOUT_MS, undefined).catch(() => undefined))
        ?.free
      return free === undefined ? [] : [[of, free] as const]
    }),
  )
  return Object.fromEntries(disks.flat())
}

async function spaceOfFile(file: string): Promise<Space | undefined> {
  return file === '' ? undefined : readSpace(dirname(file))
}

/** The values that are read for a page of metrics; those that cannot be read in time are `undefined`. */
export async function readLevels(ctx: Context): Promise<Levels> {
  // The page returns all other metrics while the storage fails.
  const inTime = <T>(level: Promise<T>) => withDeadline(level, DATABASE_TIMEOUT_MS, undefined).catch(() => undefined)
  const [tasks, backups, search_waiting, webhooks, database, ready, disks] = await Promise.all([
    inTime(countDueTasks(ctx.db)),
    inTime(readBackups(ctx)),
    inTime(countWaiting(ctx.db)),
    inTime(ctx.webhooks.levels()),
    ctx.ops.databaseLevels(),
    withDeadline(readReady(ctx), READY_TIMEOUT_MS, undefined),
    readDisks(ctx),
  ])
  return {
    clock: { step: ctx.clock.step() / SECOND, difference: differenceOf(ctx) },
    streams: ctx.streams.hub.size(),
    feed_waiting: ctx.streams.hub.watch.size(),
    webhooks,
    answers: ctx.answers.size(),
    nodes: ctx.cluster.countNodes(),
    tasks,
    backups,
    database,
    search_waiting,
    files_missing: ctx.files.place.isMissing(),
    ready,
    disks,
    log_lines_dropped: ctx.log.dropped?.() ?? 0,
  }
}
