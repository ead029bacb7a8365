import type { Context } from '../context.ts'
import { withDeadline } from '../core/deadline.ts'
import type { Levels } from '../metrics/registry.ts'
import { countDueTasks } from '../tasks/store.ts'

/** A database that does not respond must not delay the page for longer; a worker has a second for all of it. */
const DATABASE_MS = 500

/** The values that are read for a page of metrics. */
export async function readLevels(ctx: Context): Promise<Levels> {
  return {
    streams: ctx.hub.size(),
    answers: ctx.answers.size(),
    nodes: ctx.cluster.countNodes(),
    // The page returns all other metrics while the storage fails.
    tasks: (await withDeadline(countDueTasks(ctx.db), DATABASE_MS, undefined).catch(() => undefined)) ?? [],
    log_lines_dropped: ctx.log.dropped?.() ?? 0,
  }
}
