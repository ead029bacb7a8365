import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../context.ts'
import { ChatError, causeText } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { singleFlight, warnOnce } from '../../core/scheduling/once.ts'
import { createStepRunner } from '../../core/scheduling/steps.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { Database, Queries } from '../../storage/database.ts'
import { insertTask } from '../../tasks/store.ts'
import { entryWords } from './rules.ts'
import { type Change, hasChanges, listChanges, refuseChange, takeChanges } from './store.ts'
import { type IndexedText, listTexts } from './store-texts.ts'
import { writeEntries } from './word-index.ts'

/**
 * The pause after a change, in which others come: a few large batches cost half as much as many small ones, and each is a
 * commit of its own. What does not fill a batch behind others waits for the next one. Searches read what waits.
 */
const PAUSE_MS = 1_000

/** With this many changes, it does not pause: a search would have many to compare. */
const MAX_WAITING = 500

/** The pause after a failure. */
const RETRY_MS = 5_000

/** The messages of a batch, and the size of their texts: what a post may have to wait for on SQLite. */
const BATCH = 250
const BATCH_BYTES = 256 * 1024

const NOT_INDEXED = 'The search index could not be brought up to date'

/** How long texts are analysed before others have a turn. */
const TURN_MS = 5

/** Brings the changes of messages into the index of the search. */
export interface Indexer {
  /** Begins: there may be changes from before. */
  start(): void
  /** Announces changes, at least this many. */
  wake(changes?: number): void
  /** Moves the changes that wait now. */
  move(): Promise<void>
  /** Ends after the batch in progress. */
  close(): Promise<void>
}

interface MoverDeps {
  db: Database
  log: Log
  metrics: Pick<Metrics, 'searchRefused'>
}

/** Creates the indexer of one process; until it is started it does nothing. */
export function createIndexer({ db, log, metrics }: MoverDeps): Indexer {
  const moveBatch = createBatches({ db, log, metrics })
  const alarm = createAlarm(run)
  const fail = warnOnce((error: unknown) => log.warn(NOT_INDEXED, { cause: causeText(error) }))
  const moving = singleFlight(moveWaiting)
  let isOn = false
  /** Whether the next move is to leave nothing. */
  let isWhole = false

  async function moveWaiting(): Promise<void> {
    const leavesFew = !isWhole
    isWhole = false
    for (let isMore = true; isOn && isMore; ) {
      const began = performance.now()
      isMore = await moveBatch()
      if (isMore && leavesFew && !(await hasChanges(db, BATCH))) return wake(0)
      // Posts get at least half of the time.
      if (isMore) await sleep(performance.now() - began)
    }
  }

  async function moveNext(): Promise<void> {
    // One in progress may have read the changes before the latest.
    await moving.current()?.catch(() => {})
    return moving()
  }

  function move(): Promise<void> {
    isWhole = true
    return moveNext()
  }

  async function run(): Promise<void> {
    try {
      await moveNext()
      fail.reset()
    } catch (error) {
      fail(error)
      if (isOn) alarm.retry()
    }
  }

  function wake(changes = 1): void {
    if (isOn) alarm.set(changes)
  }

  return {
    start() {
      isOn = true
      wake()
    },
    wake,
    move,
    async close() {
      isOn = false
      alarm.stop()
      await moving.current()?.catch(() => {})
    },
  }
}

/** Calls `run` once for several changes: after a pause, or as soon as there are many. */
function createAlarm(run: () => void) {
  let timer: NodeJS.Timeout | undefined
  let waiting = 0
  const after = (ms: number) => setTimeout(ring, ms).unref()
  function ring(): void {
    timer = undefined
    waiting = 0
    run()
  }
  return {
    set(changes: number): void {
      const isEnough = waiting < MAX_WAITING && waiting + changes >= MAX_WAITING
      waiting += changes
      if (isEnough) clearTimeout(timer)
      timer = isEnough ? after(0) : (timer ?? after(PAUSE_MS))
    },
    /** After a failure. More changes do not end this pause. */
    retry(): void {
      waiting = MAX_WAITING
      timer ??= after(RETRY_MS)
    },
    stop: () => clearTimeout(timer),
  }
}

/**
 * Makes the function that moves one batch, and returns whether there may be more. If the database refuses a batch, it takes
 * fewer messages, until it has found the one that is refused, which the index then does without: searches compare it
 * themselves. It is tried again when it changes, or with `search rebuild`.
 */
function createBatches({ db, log, metrics }: MoverDeps): () => Promise<boolean> {
  let size = BATCH
  return async () => {
    let changes: Change[] = []
    try {
      const isMore = await moveBatch(db, size, (read) => (changes = read))
      size = Math.min(BATCH, size * 2)
      return isMore
    } catch (error) {
      // The storage fails, or something else than these messages is wrong.
      if (error instanceof ChatError || changes.length === 0) throw error
      if (changes.length === 1) {
        await db.write((tx) => refuseChange(tx, changes[0]!))
        metrics.searchRefused()
        const message =
          'The database refuses a message for the search index; searches read it directly, which is slower'
        log.warn(message, { subject_id: String(changes[0]!.doc), cause: causeText(error) })
      }
      size = Math.ceil(changes.length / 4)
      return true
    }
  }
}

/** Moves one batch, of which `onRead` gets the changes. @returns whether more may have waited when it was read */
async function moveBatch(db: Database, size: number, onRead: (changes: Change[]) => void): Promise<boolean> {
  if (db.dialect === 'postgresql')
    // The indexers of other processes skip these changes until then.
    return db.write(async (tx) => {
      const batch = await read(tx, size)
      onRead(batch.changes)
      if (batch.changes.length > 0) await store(tx, batch, await analyse(batch.texts))
      return batch.isMore
    })
  // Posts need not wait for the analysis. A message that changes in this time is not taken, and moved again.
  const batch = await db.snapshot((tx) => read(tx, size))
  onRead(batch.changes)
  if (batch.changes.length === 0) return false
  const words = await analyse(batch.texts)
  const taken = await db.write((tx) => store(tx, batch, words))
  return batch.isMore || taken < batch.changes.length
}

interface Batch {
  changes: Change[]
  texts: IndexedText[]
  isMore: boolean
}

/** Changes and texts of one moment: at least one, and not many bytes. */
async function read(db: Queries, size: number): Promise<Batch> {
  const found = await listChanges(db, size)
  const docs = found.map(({ doc }) => doc)
  const texts = found.length > 0 ? await listTexts(db, docs, BATCH_BYTES) : []
  // The texts may end earlier; a removed message has none.
  const last = found.length > texts.length ? (texts.at(-1)?.doc ?? Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER
  const changes = found.filter(({ doc }) => doc <= last)
  return { changes, texts, isMore: found.length === size || changes.length < found.length }
}

async function analyse(texts: readonly IndexedText[]): Promise<Map<number, readonly string[]>> {
  const words = new Map<number, readonly string[]>()
  const run = createStepRunner(TURN_MS)
  for (const text of texts) if (text.is_live === 1) words.set(text.doc, await run(entryWords(text)))
  return words
}

/** @returns the number of changes that it took away */
async function store(tx: Queries, { changes }: Batch, words: ReadonlyMap<number, readonly string[]>): Promise<number> {
  const docs = await takeChanges(tx, changes)
  const entries = changes.filter(({ doc }) => docs.has(doc))
  const rows = entries.map(({ doc }) => ({ doc, words: words.get(doc) ?? [] }))
  const isToMerge = rows.length > 0 && (await writeEntries(tx, rows))
  if (isToMerge) await insertTask(tx, newId(), { kind: 'storage.purge', key: '' })
  return docs.size
}
