import { compactIndex } from '../chat/search/store-index.ts'
import type { Context } from '../context.ts'
import { TABLES } from '../storage/archive/format.ts'
import type { TaskOutcome, TaskRun } from '../tasks/runner.ts'

/** Pause before the next attempt while another process still reads the old state. */
const RETRY_SECONDS = 5

const NAMES = [...TABLES.map(([name]) => name), 'search_docs', 'search_changes']

/** Removes deleted data from the database files, too. */
export async function purge(
  { db, search }: Pick<Context, 'db' | 'search'>,
  { detail, signal }: TaskRun,
): Promise<TaskOutcome> {
  await search.move()
  await compactIndex(db, () => signal.aborted)
  if (await db.purge(NAMES, signal)) return { done: true }
  return { done: false, detail, delay_seconds: RETRY_SECONDS }
}
