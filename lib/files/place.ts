import { newId } from '../core/ids.ts'
import type { Database, Queries } from '../storage/database.ts'
import type { FileStore } from './file-store.ts'
import { findPlaceIds, listNewest, namesBytes, replaceStorage } from './store.ts'

/** How many of the newest files are looked for in a place without a marker. */
const NEWEST = 20

/**
 * What the marker of a place means for a database:
 *
 * - `own`: the place of this database's files
 * - `shared`: they are, and another database owns them: this one is a copy, and deletes nothing
 * - `unmarked`: an earlier version has stored them, without a marker
 * - `free`: no row names bytes, so any place is right; with the first bytes it gets a marker
 * - `missing`: rows name bytes, and this is another place, or an empty folder where a disk should be mounted
 */
export type PlaceState = 'own' | 'shared' | 'unmarked' | 'free' | 'missing'

/** What is known of a place. */
export interface PlaceCheck {
  state: PlaceState
  /** The storage that its marker names. */
  storage: string | undefined
  /** Whether the bytes of released rows can be deleted there. */
  may_delete: boolean
}

/** Compares the marker of a place with the database; changes nothing. @throws ChatError `unavailable` */
export async function examine(db: Queries, store: FileStore): Promise<PlaceCheck> {
  const first = await compare(db, store)
  // Another process may have stored the first file between the two looks of the first one.
  return first.state === 'missing' ? compare(db, store) : first
}

async function compare(db: Queries, store: FileStore): Promise<PlaceCheck> {
  const marker = await store.marker()
  const { storage, database } = await findPlaceIds(db)
  // A place from before markers, whose files are all released, never gets one by itself.
  const isOfBefore = !marker && storage === undefined
  const as = (state: PlaceState): PlaceCheck => ({
    state,
    storage: marker?.storage,
    may_delete: state === 'own' || (state === 'free' && isOfBefore),
  })
  if (marker && marker.storage === storage) return as(marker.database === database ? 'own' : 'shared')
  if (!(await namesBytes(db))) return as('free')
  return as(storage === undefined && (await hasNewest(db, store)) ? 'unmarked' : 'missing')
}

/** Whether bytes of one of the newest files are stored. @throws ChatError `unavailable` */
export async function hasNewest(db: Queries, store: FileStore): Promise<boolean> {
  for (const key of await listNewest(db, NEWEST)) if (await store.get(key, { end: 1 })) return true
  return false
}

/**
 * Makes a place the one of this database: it gets a marker, unless it has one, whose storage is noted then.
 *
 * @param options.anew the place gets a new id, whatever it has
 * @param options.keep a place without an id gets that which the database has noted, of a backup or an archive
 */
export async function claim(
  db: Database,
  store: FileStore,
  { anew = false, keep = false }: { anew?: boolean; keep?: boolean } = {},
): Promise<PlaceCheck> {
  const before = await findPlaceIds(db)
  const marker = anew ? undefined : await store.marker()
  const id = marker?.storage ?? (keep ? before.storage : undefined) ?? newId()
  if (id !== before.storage) await db.write((tx) => replaceStorage(tx, id, before.storage))
  if (!marker) await mark(db, store)
  return examine(db, store)
}

/** Makes this database the owner of a place. @param storage the id that the place has */
export async function own(db: Database, store: FileStore, storage: string): Promise<void> {
  const before = await findPlaceIds(db)
  if (storage !== before.storage) await db.write((tx) => replaceStorage(tx, storage, before.storage))
  await mark(db, store)
}

/** Writes the marker. Of processes that do so at once, the last one has read what all have noted. */
async function mark(db: Database, store: FileStore): Promise<void> {
  for (;;) {
    const { storage, database } = await findPlaceIds(db)
    await store.mark({ storage: storage!, database })
    if ((await findPlaceIds(db)).storage === storage) return
  }
}
