import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { createStepRunner } from '../../core/scheduling/steps.ts'
import type { Database, Queries } from '../../storage/database.ts'
import { inBatches, type Pace } from '../../tasks/batches.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import { insertTask } from '../../tasks/store.ts'
import { type Entry, entryWords } from './rules.ts'
import { noteChanged } from './store.ts'
import { type Older, takeOlder } from './store-fill.ts'
import { listTexts } from './store-texts.ts'
import { writeEntries } from './word-index.ts'

/** Above any id. */
const TOP = 'g'

/** The size of the texts of a batch, of which the first is taken whatever its size: the indexer takes the others. */
const BATCH_BYTES = 256 * 1024

/** How long texts are analysed before others have a turn of the event loop. */
const TURN_MS = 5

/** On SQLite a post may have to wait for a batch. On PostgreSQL only a change of one of its messages does. */
const PACE: Record<Database['dialect'], Pace> = {
  sqlite: { target_ms: 18, smallest: 100, rest: 0.2 },
  postgresql: { target_ms: 60, smallest: 200, rest: 0.1 },
}

/**
 * Brings all messages into the index, the newest first. It continues where it was interrupted. A message that the
 * database refuses is left to the indexer, with those of its batch.
 */
export async function fill({ db, search }: Context, { detail, isOver }: TaskRun): Promise<TaskOutcome> {
  if (!search.isOn()) return { done: true }
  let before = String(detail.before ?? TOP)
  const step = async (size: number) => {
    const began = performance.now()
    const next = await fillSome(db, before, size)
    before = next ?? before
    return next === undefined ? undefined : performance.now() - began
  }
  const isDone = await inBatches(isOver, step, PACE[db.dialect])
  search.wake()
  if (!isDone) return { done: false, detail: { before } }
  // Merges the partitions.
  if (db.dialect === 'sqlite') await insertTask(db, newId(), { kind: 'storage.purge', key: '' })
  return { done: true }
}

/** @returns the last id, if there are more */
async function fillSome(db: Database, before: string, size: number): Promise<string | undefined> {
  try {
    return await db.write(async (tx) => {
      const older = await takeOlder(tx, before, size)
      await index(tx, older)
      return older.next
    })
  } catch (error) {
    if (error instanceof ChatError) throw error
    return db.write(async (tx) => {
      const { messages, next } = await takeOlder(tx, before, size)
      await noteChanged(
        tx,
        messages.map(({ id }) => id),
      )
      return next
    })
  }
}

/** Nothing can change the messages in this time: what changes them later is noted later. */
async function index(tx: Queries, { messages }: Older): Promise<void> {
  if (messages.length === 0) return
  const texts = await listTexts(
    tx,
    messages.map(({ doc }) => doc),
    BATCH_BYTES,
  )
  const read = new Set(texts.map(({ doc }) => doc))
  const left = messages.filter(({ doc }) => !read.has(doc))
  if (left.length > 0)
    await noteChanged(
      tx,
      left.map(({ id }) => id),
    )
  const run = createStepRunner(TURN_MS)
  const entries: Entry[] = []
  for (const text of texts)
    entries.push({ doc: text.doc, words: text.is_live === 1 ? await run(entryWords(text)) : [] })
  await writeEntries(tx, entries)
}
