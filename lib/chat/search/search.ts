import type { Config } from '../../config/parse.ts'
import type { Log } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { createLocalBuckets } from '../../limits/buckets.ts'
import type { Change, Commit } from '../../live/transaction/commits.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { Database, Queries, Writing } from '../../storage/database.ts'
import { insertTask } from '../../tasks/store.ts'
import { createIndexer, type Indexer } from './indexer.ts'
import { changedBy, indexVersion } from './rules.ts'
import { createSearchSlots, type SearchSlots } from './slots.ts'
import { findState, forgetChanges, hasMessages, listDocs, lockState, noteChanged, setState } from './store.ts'
import { clearIndex, openIndex, writeEntries } from './word-index.ts'

/** The index of the search: what keeps it as the messages are. */
export interface Search extends Pick<Indexer, 'move' | 'wake' | 'close'> {
  /** Whether messages can be searched. */
  isOn(): boolean
  /** Finds out whether the database can have an index, and removes that of an older version. */
  open(): Promise<void>
  /** Keeps the index, and fills it if it is new, of another analysis, or was not kept for a while. */
  start(): Promise<void>
  /** Notes the messages that events change, in their transaction. */
  note(tx: Writing, change: Pick<Change, 'additions'>): void
  /** Notes messages that change without an event. */
  noteMessages(tx: Writing, ids: readonly string[]): void
  /** What was noted is durable. */
  changed(commit: Pick<Commit, 'additions'>): void
  /** Counts a search of a user, in this process. @throws ChatError `rate_limited` beyond `search.per_user_per_min` */
  spend(userId: string): void
  /** Waits until few enough other searches run. */
  acquire: SearchSlots['acquire']
  /** Takes messages out that are about to be removed, in the same transaction. */
  remove(tx: Queries, messageIds: readonly string[]): Promise<void>
}

const OFF = 'off'

/** How many searches run at a time in a process. */
const CONCURRENCY = 4

/** How many of them are of one user. */
const CONCURRENCY_PER_USER = 2

/** The users whose searches are counted. */
const MAX_COUNTED = 10_000

/** Creates the part of a service that keeps the index. */
export function createSearch(deps: {
  config: Pick<Config, 'search'>
  db: Database
  log: Log
  metrics: Pick<Metrics, 'searchRefused'>
  now: () => number
}): Search {
  const { config, db, log, metrics, now } = deps
  const indexer = createIndexer({ db, log, metrics })
  const spent = createLocalBuckets(MAX_COUNTED)
  let isAvailable = true
  const isOn = () => config.search.enabled && isAvailable

  function noteMessages(tx: Writing, ids: readonly string[]): void {
    if (ids.length > 0 && isOn()) tx.defer(noteChanged(tx, new Set(ids)))
  }

  return {
    isOn,
    move: indexer.move,
    wake: indexer.wake,
    spend(userId) {
      const burst = config.search.per_user_per_min
      const { allowed, retry_after_seconds = 1 } = spent.take(userId, now(), { requests_per_second: burst / 60, burst })
      if (!allowed) throw new ChatError('rate_limited', { retry_after_seconds })
    },
    acquire: createSearchSlots(CONCURRENCY, CONCURRENCY_PER_USER).acquire,
    close: indexer.close,
    async open() {
      // Also without a search: nothing would take out of it what is deleted.
      const canIndex = await openIndex(db)
      isAvailable = canIndex || !config.search.enabled
    },
    async start() {
      if (!config.search.enabled) log.warn('There is no search: search.enabled is false')
      if (!isAvailable) log.warn('There is no search: this build of SQLite has no FTS5')
      await ensureVersion(db, isOn() ? indexVersion(db.dialect) : OFF)
      if (isOn()) indexer.start()
    },
    note: (tx, { additions }) => noteMessages(tx, messagesIn(additions)),
    noteMessages,
    changed({ additions }) {
      const { length } = messagesIn(additions)
      if (isOn() && length > 0) indexer.wake(length)
    },
    remove: (tx, messageIds) => (isOn() ? removeFromIndex(tx, messageIds) : Promise.resolve()),
  }
}

const messagesIn = (additions: Change['additions']) => additions.flatMap(({ events }) => changedBy(events))

async function removeFromIndex(tx: Queries, messageIds: readonly string[]): Promise<void> {
  const docs = await listDocs(tx, messageIds)
  if (docs.length === 0) return
  await forgetChanges(tx, docs)
  await writeEntries(
    tx,
    docs.map((doc) => ({ doc, words: [] })),
  )
}

/**
 * Notes what the index is of from now on. If it was of something else, it is emptied, since nothing would take out what is
 * deleted in between, and filled again.
 */
async function ensureVersion(db: Database, version: string): Promise<void> {
  const isReached = (state: string | undefined) => state === version || (state === undefined && version === OFF)
  if (isReached(await findState(db))) return
  await db.write(async (tx) => {
    // Another process may have begun the same: what it has noted must stay.
    const state = await lockState(tx)
    if (isReached(state)) return
    await setState(tx, version)
    if (state !== undefined) await clearIndex(tx)
    if (version !== OFF && (await hasMessages(tx))) await insertTask(tx, newId(), { kind: 'search.fill', key: '' })
  })
}
