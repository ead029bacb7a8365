import type { Context } from '../context.ts'
import { TABLES } from '../storage/archive/format.ts'
import type { TaskOutcome, TaskRun } from '../tasks/runner.ts'

/** How soon it is tried again while another process reads what was there before. */
const RETRY_SECONDS = 5

const NAMES = TABLES.map(([name]) => name)

/** Has what was removed leave the files of the database, too. */
export async function purge({ db }: Pick<Context, 'db'>, { detail, signal }: TaskRun): Promise<TaskOutcome> {
  if (await db.purge(NAMES, signal)) return { done: true }
  return { done: false, detail, delay_seconds: RETRY_SECONDS }
}
