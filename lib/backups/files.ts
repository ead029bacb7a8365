import { type CopiedFiles, copyFiles } from '../files/copy.ts'
import { type FileStore, openFileStoreIn } from '../files/file-store.ts'
import { listKnown } from '../files/store.ts'
import type { Queries } from '../storage/database.ts'
import type { Objects } from '../storage/objects/objects.ts'
import type { FilesKey } from './files-key.ts'
import { backupTime } from './rules.ts'
import { sealed } from './sealed.ts'

/** The number of ids that are looked up at a time. */
const BATCH = 500

/** What a backup has done with the files of messages. */
export interface SavedFiles extends Pick<CopiedFiles, 'files' | 'parts' | 'bytes' | 'missing' | 'missing_ids'> {
  /** Files that no backup has any more, whose bytes were deleted. */
  deleted: number
}

/** The places of a backup: folders of the target. */
export interface FilePlaces {
  files: FileStore
  /** The files that the database no longer has, as `<time>-<id>`. */
  released: Objects
}

/** Opens the folder of an owner with the files of messages. @param open opens a folder of the target */
export function openFilesFolder(owner: string, open: (folder: string) => Objects, key: FilesKey | undefined): Objects {
  const folder = open(`files-${named(owner, key)}`)
  return key ? sealed(folder, key) : folder
}

/** A store that reads each file from those of these stores that have it: bytes never change under their name. */
export function joinStores([first, ...others]: [FileStore, ...FileStore[]]): FileStore {
  return {
    ...first,
    async sizes(id) {
      const all = await Promise.all([first, ...others].map((source) => source.sizes(id)))
      return new Map(all.reverse().flatMap((sizes) => [...sizes]))
    },
    async get(key, range) {
      for (const source of [first, ...others]) {
        const bytes = await source.get(key, range)
        if (bytes) return bytes
      }
      return undefined
    },
  }
}

/** The places of the files of an owner. @param open opens a folder of the target */
export function openPlaces(owner: string, open: (folder: string) => Objects, key?: FilesKey): FilePlaces {
  return {
    files: openFileStoreIn(openFilesFolder(owner, open, key)),
    released: open(`released-${named(owner, key)}`),
  }
}

/** With another key, files are copied again: no backup is of files that it cannot decrypt. */
const named = (owner: string, key: FilesKey | undefined) => (key ? `${owner}-${key.fingerprint}` : owner)

/**
 * Copies the files that the database names to the place of the backups, after a backup of the database. What is there is
 * not copied again: all backups share the files. Those that no kept backup names are deleted.
 *
 * @param names the kept backups, with the one just made
 * @throws ChatError `storage_full`, `unavailable`
 */
export async function saveFiles(
  db: Queries,
  { from, to }: { from: FileStore; to: FilePlaces },
  { names, signal }: { names: readonly string[]; signal: AbortSignal },
): Promise<SavedFiles> {
  const { files, parts, bytes, missing, missing_ids } = await copyFiles(db, { from, to: to.files }, { signal })
  const deleted = await deleteReleased(db, to, { names, signal })
  return { files, parts, bytes, missing, missing_ids, deleted }
}

/**
 * A file that the database no longer has is noted with the time of the last backup, which may have it still. Once all kept
 * backups are later than that, none has it.
 */
async function deleteReleased(
  db: Queries,
  { files, released }: FilePlaces,
  { names, signal }: { names: readonly string[]; signal: AbortSignal },
): Promise<number> {
  const times = names.map(backupTime).sort()
  const [oldest, newest] = [times[0]!, times.at(-1)!]
  const noted = new Set<string>()
  let deleted = 0
  for await (const key of released.keys()) {
    signal.throwIfAborted()
    const [time, id] = [key.slice(0, newest.length), key.slice(newest.length + 1)]
    noted.add(id)
    if (time >= oldest) continue
    for (const n of (await files.sizes(id)).keys()) await files.remove(`${id}/${n}`)
    await released.delete(key)
    deleted++
  }
  for await (const id of listUnknown(db, files)) {
    signal.throwIfAborted()
    if (!noted.has(id)) await released.put(`${newest}-${id}`, empty())
  }
  return deleted
}

/** The ids of files at a place that the database does not have. */
async function* listUnknown(db: Queries, files: FileStore): AsyncGenerator<string> {
  let ids = new Set<string>()
  const look = async () => {
    const rows = await listKnown(db, ids)
    const unknown = [...ids].filter((id) => !rows.has(id))
    ids = new Set()
    return unknown
  }
  for await (const key of files.keys()) {
    ids.add(key.split('/')[0]!)
    if (ids.size === BATCH) yield* await look()
  }
  yield* await look()
}

async function* empty(): AsyncGenerator<Uint8Array> {}
