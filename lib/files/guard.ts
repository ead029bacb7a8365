import type { Log } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import { singleFlight } from '../core/scheduling/once.ts'
import type { Database } from '../storage/database.ts'
import type { FileStore } from './file-store.ts'
import { claim, examine, type PlaceCheck, type PlaceState } from './place.ts'

/** How often a missing place is checked: a caller tries again by then. */
export const CHECK_MS = 30_000

/** What stands between the calls of a service and the place of its files. */
export interface FilesPlace {
  /** The files, guarded: what would be read, written or deleted in the wrong place is `unavailable`. */
  files(): Promise<FileStore>
  /** The files as they are, for a check of them. */
  unguarded(): Promise<FileStore>
  /** Compares the place with the database, and marks one of an earlier version. @throws ChatError `unavailable` */
  inspect(): Promise<PlaceState>
  /** Looks whether what nothing refers to can be deleted there. @throws ChatError `unavailable` */
  mayDelete(): Promise<boolean>
  /** What the last look has found; `undefined` before the first one. */
  state(): PlaceState | undefined
  /** Whether the last look found the place missing. */
  isMissing(): boolean
  /** @throws ChatError `unavailable` if the last look found the place missing */
  assertThere(): void
  /** As {@link assertThere}, before a write: a place that was missing is checked again. */
  confirmThere(): Promise<void>
}

interface PlaceDeps {
  db: Database
  open: () => Promise<FileStore>
  log: Log
}

/** Creates the guard of a place of files; nothing is opened before the first call. */
export function createFilesPlace(deps: PlaceDeps): FilesPlace {
  const monitor = createPlaceMonitor(deps)
  let guarded: Promise<FileStore> | undefined
  return {
    files: () => (guarded ??= deps.open().then((store) => guard(store, monitor))),
    unguarded: deps.open,
    inspect: async () => (await monitor.inspect()).state,
    mayDelete: async () => (await monitor.inspect()).may_delete,
    state: () => monitor.seen()?.state,
    isMissing: () => monitor.seen()?.state === 'missing',
    assertThere: monitor.assertThere,
    confirmThere: monitor.confirmThere,
  }
}

type PlaceMonitor = ReturnType<typeof createPlaceMonitor>

/** Keeps what the last check of a place has found. */
function createPlaceMonitor({ db, open, log }: PlaceDeps) {
  let seen: PlaceCheck | undefined

  const inspect = singleFlight(async (): Promise<PlaceCheck> => {
    const store = await open()
    const findings = await examine(db, store)
    const next = findings.state === 'unmarked' ? await claim(db, store) : findings
    report(log, { before: seen, next, place: store.place })
    seen = next
    return next
  })
  const claimFree = singleFlight(async () => {
    seen = await claim(db, await open())
  })

  function assertThere(): void {
    if (seen?.state === 'missing') throw missing()
  }

  async function confirmThere(): Promise<void> {
    if (seen?.state === 'missing') await inspect()
    assertThere()
  }

  /** A marker is compared without the database: only another one than before is a reason to look. */
  async function check(store: FileStore): Promise<void> {
    if (!(await isAsSeen(store))) {
      await inspect()
      // That look may have been under way, and have read the marker before it went away.
      if (seen?.state !== 'missing' && !(await isAsSeen(store))) await inspect()
    }
    assertThere()
  }

  const isAsSeen = async (store: FileStore) =>
    seen?.storage !== undefined && (await store.marker())?.storage === seen.storage

  /** As `check`, for each write to a folder, and the first one to another place, which is marked then. */
  async function checkWrite(store: FileStore): Promise<void> {
    if (store.is_folder || seen === undefined || seen.state === 'free') await check(store)
    if (seen?.state === 'free') await claimFree()
    assertThere()
  }

  return { inspect, check, checkWrite, assertThere, confirmThere, seen: () => seen }
}

function guard(store: FileStore, { inspect, check, checkWrite, assertThere, seen }: PlaceMonitor): FileStore {
  return {
    ...store,
    async put(key, bytes) {
      await checkWrite(store)
      await store.put(key, bytes, { is_there: true }).catch(async (error) => {
        await inspect().catch(() => {})
        assertThere()
        throw error
      })
      // A disk may have been unmounted since, and what was written is not on it.
      if (store.is_folder) await checkWrite(store)
    },
    async get(key, range) {
      assertThere()
      const value = await store.get(key, range)
      // What a row names is not there: is anything?
      if (value) return value
      await check(store)
      // It may have come back between the two looks.
      return store.get(key, range)
    },
    async remove(key) {
      if (store.is_folder) await check(store)
      assertThere()
      if (seen()?.state !== 'shared') await store.remove(key)
    },
    async sizes(id) {
      assertThere()
      return store.sizes(id)
    },
  }
}

const missing = () =>
  new ChatError('unavailable', {
    message: 'The storage of files is not there right now.',
    cause: new Error('Its marker is missing, or another one'),
    retry_after_seconds: CHECK_MS / 1000,
  })

/** Logs a line when a place goes missing, and when it is back. */
function report(
  log: Log,
  { before, next, place }: { before: PlaceCheck | undefined; next: PlaceCheck; place: string },
) {
  if (next.state === before?.state) return
  if (next.state === 'missing')
    log.error(
      'The storage of files is missing: is its disk mounted? Files cannot be read or uploaded until it is back',
      {
        cause: `${place} has ${next.storage === undefined ? 'no marker' : 'the marker of another storage'}`,
      },
    )
  else if (before?.state === 'missing') log.info('The storage of files is there again')
  if (next.state === 'shared')
    log.warn('Another database owns the storage of files: this one deletes nothing there', {
      cause: `${place}: "chat-server attachments adopt" makes this one its owner`,
    })
}
