import type { Context } from '../context.ts'
import { TABLES } from '../storage/archive/format.ts'
import type { TaskOutcome, TaskRun } from '../tasks/runner.ts'

/** Pause before the next attempt while another process still reads the old state. */
const RETRY_SECONDS = 5

const NAMES = TABLES.map(([name]) => name)

/** Removes deleted data from the database files, too. */
export async function purge({ db }: Pick<Context, 'db'>, { detail, signal }: TaskRun): Promise<TaskOutcome> {
  if (await db.purge(NAMES, signal)) return { done: true }
  return { done: false, detail, delay_seconds: RETRY_SECONDS }
}
