import { compactIndex } from '../chat/search/compacting.ts'
import type { Context } from '../context.ts'
import { TABLES } from '../storage/archive/format.ts'
import type { TaskOutcome, TaskRun } from '../tasks/runner.ts'

/** Pause before the next attempt while another process still reads the old state. */
const RETRY_SECONDS = 5

const NAMES = [...TABLES.map(([name]) => name), 'search_docs', 'search_words', 'search_gone', 'search_changes']

/** Removes deleted data from the database files, too. */
export async function purge(
  { db, search }: Pick<Context, 'db' | 'search'>,
  { detail, signal, isOver }: TaskRun,
): Promise<TaskOutcome> {
  // A merge is not interrupted by what is taken out of the index after it began.
  const merging = typeof detail.partition === 'number' ? detail.partition : undefined
  if (merging === undefined) await search.move()
  const { isDone, begun } = await compactIndex(db, merging, isOver)
  if (!isDone) return { done: false, detail: begun === undefined ? {} : { partition: begun } }
  if (await db.purge(NAMES, signal)) return { done: true }
  return { done: false, detail: {}, delay_seconds: RETRY_SECONDS }
}
