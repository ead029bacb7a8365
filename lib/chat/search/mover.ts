import { setImmediate as turn } from 'node:timers/promises'
import type { Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { singleFlight, warnOnce } from '../../core/once.ts'
import type { Database, Queries } from '../../storage/database.ts'
import { entryWords } from './rules.ts'
import { type Change, type IndexedText, listChanges, listTexts, takeChanges } from './store.ts'
import { writeEntries } from './store-index.ts'

/** The pause after a change, in which others come; and between batches, in which posts are written. */
const PAUSE_MS = 250
const BETWEEN_MS = 5

/** The pause after a failure. */
const RETRY_MS = 5_000

/** The messages of a batch, and the size of their texts: what a post may have to wait for on SQLite. */
const BATCH = 100
const BATCH_BYTES = 256 * 1024

/** How long texts are analysed before others have a turn. */
const TURN_MS = 5

/** Brings the changes of messages into the index of the search. */
export interface Mover {
  /** Begins: there may be changes from before. */
  start(): void
  /** There are changes. */
  wake(): void
  /** Moves what is there now. */
  move(): Promise<void>
  /** Ends after the batch in progress. */
  close(): Promise<void>
}

/** Creates the mover of one process; until it is started it does nothing. */
export function createMover({ db, log }: { db: Database; log: Log }): Mover {
  let timer: NodeJS.Timeout | undefined
  let isOn = false
  const fail = warnOnce((error: unknown) =>
    log.warn('The search index could not be brought up to date', { cause: causeText(error) }),
  )
  const move = singleFlight(moveAll)

  async function moveAll(): Promise<void> {
    while (isOn && (await moveBatch(db))) await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS))
  }

  async function run(): Promise<void> {
    timer = undefined
    try {
      await move()
      fail.reset()
    } catch (error) {
      fail(error)
      wake(RETRY_MS)
    }
  }

  function wake(pause_ms = PAUSE_MS): void {
    if (isOn) timer ??= setTimeout(run, pause_ms).unref()
  }

  return {
    start() {
      isOn = true
      wake()
    },
    wake: () => wake(),
    move,
    async close() {
      isOn = false
      clearTimeout(timer)
      await move.current()?.catch(() => {})
    },
  }
}

/** Moves one batch. @returns whether there may be more */
async function moveBatch(db: Database): Promise<boolean> {
  if (db.dialect === 'postgresql')
    // The movers of other processes skip these changes meanwhile.
    return db.write(async (tx) => {
      const batch = await read(tx)
      if (batch.changes.length === 0) return false
      await store(tx, batch, await analyse(batch.texts))
      return true
    })
  // Posts need not wait for the analysis. A message that changes meanwhile is not taken, and moved again.
  const batch = await db.snapshot(read)
  if (batch.changes.length === 0) return false
  const words = await analyse(batch.texts)
  await db.write((tx) => store(tx, batch, words))
  return true
}

interface Batch {
  changes: Change[]
  texts: IndexedText[]
}

/** Changes and texts of one moment: at least one, and not many bytes. */
async function read(db: Queries): Promise<Batch> {
  const found = await listChanges(db, BATCH)
  const docs = found.map(({ doc }) => doc)
  const texts = found.length > 0 ? await listTexts(db, docs, BATCH_BYTES) : []
  // The texts may end earlier; a removed message has none.
  const last = found.length > texts.length ? (texts.at(-1)?.doc ?? Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER
  return { changes: found.filter(({ doc }) => doc <= last), texts }
}

async function analyse(texts: readonly IndexedText[]): Promise<Map<number, Set<string>>> {
  const words = new Map<number, Set<string>>()
  let began = performance.now()
  for (const text of texts) {
    if (text.is_live === 1) words.set(text.doc, entryWords(text))
    if (performance.now() - began < TURN_MS) continue
    await turn()
    began = performance.now()
  }
  return words
}

async function store(tx: Queries, { changes }: Batch, words: ReadonlyMap<number, Set<string>>): Promise<void> {
  const taken = await takeChanges(tx, changes)
  const entries = changes.filter(({ doc }) => taken.has(doc))
  if (entries.length > 0)
    await writeEntries(
      tx,
      entries.map(({ doc }) => ({ doc, words: words.get(doc) ?? NONE })),
    )
}

const NONE: ReadonlySet<string> = new Set()
