import { type FileHandle, mkdir, open, opendir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { readSpace } from '../space.ts'
import { isAbandoned, toTemporaryPath } from '../temporary.ts'
import { assertKey, type ObjectInfo, type Objects } from './objects.ts'

/** The names of files that are not complete begin with a dot, as no key does. */
const UNFINISHED = /^\..+\.partial$/

const MAX_ATTEMPTS = 100

/** How much is read at once of a long object. */
const READ_BYTES = 1024 * 1024

/** A range of up to this many bytes is read as one: every read is a task of its own. */
const SHORT_BYTES = 4 * READ_BYTES

/** Objects as files of a folder, which is created with the first one. Only this user may read them. */
export function createFolder(path: string): Objects {
  const root = resolve(path)
  const fileOf = (key: string) => {
    assertKey(key)
    return join(root, ...key.split('/'))
  }
  return {
    place: root,
    piece_bytes: READ_BYTES,

    async put(key, bytes, { is_there = false, signal } = {}) {
      const file = fileOf(key)
      const folder = dirname(file)
      const partial = toTemporaryPath(join(folder, `.${basename(file)}`))
      try {
        const handle = await create(partial, root, is_there)
        await eachAbandoned(folder, (path) => rm(path, { force: true }))
        const size = await write(handle, bytes, signal)
        await rename(partial, file)
        await sync(folder)
        return size
      } finally {
        await rm(partial, { force: true })
      }
    },

    async get(key, { start = 0, end, signal } = {}) {
      const file = fileOf(key)
      const stats = await stat(file).catch(ifMissing)
      if (!stats?.isFile()) return undefined
      return read(file, { start, end: Math.min(stats.size, (end ?? Number.POSITIVE_INFINITY) + 1) }, signal)
    },

    async head(key) {
      const stats = await stat(fileOf(key)).catch(ifMissing)
      return stats?.isFile() ? { key, bytes: stats.size } : undefined
    },

    async delete(key) {
      const file = fileOf(key)
      await rm(file, { force: true })
      if (dirname(file) !== root) await removeEmpty(dirname(file))
    },

    async list(prefix, { after = '', limit = 1000 } = {}) {
      const keys = (await keysWith(root, prefix)).filter((key) => key > after).sort()
      const page = keys.slice(0, limit)
      const sizes = await Promise.all(page.map((key) => stat(join(root, key)).catch(ifMissing)))
      const objects = page.flatMap((key, n): ObjectInfo[] => (sizes[n] ? [{ key, bytes: sizes[n].size }] : []))
      return { objects, ...(keys.length > limit && { next: page.at(-1)! }) }
    },

    keys: () => walk(root, ''),

    removeUnfinished: async ({ dry_run = false } = {}) => removeAbandoned(root, dry_run),

    space: () => readSpace(root),
  }
}

/** Every key below a folder, whose own key with a slash is `path`: a folder is read entry by entry. */
async function* walk(root: string, path: string): AsyncGenerator<string> {
  const folder = await opendir(join(root, path)).catch(ifMissing)
  if (!folder) return
  for await (const entry of folder) {
    if (entry.name.startsWith('.')) continue
    if (entry.isFile()) yield path + entry.name
    if (entry.isDirectory()) yield* walk(root, `${path}${entry.name}/`)
  }
}

/** @returns how many files of interrupted writes there are in a folder and those in it */
async function removeAbandoned(folder: string, dryRun: boolean): Promise<number> {
  let count = 0
  await eachAbandoned(folder, async (partial) => {
    if (!dryRun) await rm(partial, { force: true })
    count++
  })
  const entries = (await opendir(folder).catch(ifMissing)) ?? []
  for await (const entry of entries) {
    if (!entry.isDirectory()) continue
    const path = join(folder, entry.name)
    const bytes = await removeAbandoned(path, dryRun).catch(noneIfForbidden)
    if (bytes > 0 && !dryRun) await rmdir(path).catch(ifInUse)
    count += bytes
  }
  return count
}

/** The keys with this prefix. Reads its folder, and not the root: that may have the ids of all files. */
function keysWith(root: string, prefix: string): Promise<string[]> {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  if (folder) assertKey(folder.slice(0, -1))
  return keysOf(root, folder, prefix)
}

/** The keys with this prefix in a folder, whose own key with a slash is `path`. Enters no folder without such keys. */
async function keysOf(root: string, path: string, prefix: string): Promise<string[]> {
  const entries = (await readdir(join(root, path), { withFileTypes: true }).catch(ifMissing)) ?? []
  const keys: string[] = []
  for (const entry of entries) {
    const key = path + entry.name
    if (entry.name.startsWith('.')) continue
    if (entry.isFile() && key.startsWith(prefix)) keys.push(key)
    if (entry.isDirectory() && (`${key}/`.startsWith(prefix) || prefix.startsWith(`${key}/`)))
      keys.push(...(await keysOf(root, `${key}/`, prefix).catch(ifForbidden)))
  }
  return keys
}

/** The folder of another user, such as `lost+found`: it has no objects of this one. */
function ifForbidden(error: NodeJS.ErrnoException): [] {
  if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error
  return []
}

function noneIfForbidden(error: NodeJS.ErrnoException): 0 {
  ifForbidden(error)
  return 0
}

/** Removes a folder unless it has an object. What a killed process was writing there goes, too. */
async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder)
  } catch (error) {
    ifInUse(error as NodeJS.ErrnoException)
    for await (const { name } of (await opendir(folder).catch(ifMissing)) ?? []) if (!UNFINISHED.test(name)) return
    await eachAbandoned(folder, (path) => rm(path, { force: true }))
    await rmdir(folder).catch(ifInUse)
  }
}

/** The folder has another object, or was deleted already. */
function ifInUse(error: NodeJS.ErrnoException): void {
  if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EBUSY'].includes(error.code ?? '')) throw error
}

/**
 * Creates a file, and its folder. A folder that was deleted with its last object is created again.
 *
 * @param isThere the root exists: where it does not, its disk is not mounted, and another folder would hide that
 */
async function create(path: string, root: string, isThere: boolean): Promise<FileHandle> {
  for (let attempt = 1; ; attempt++) {
    await (isThere ? createBelow(dirname(path), root) : createDurably(dirname(path), root))
    const file = await open(path, 'wx', 0o600).catch(isThere && dirname(path) === root ? undefined : ifMissing)
    if (file) return file
    if (attempt === MAX_ATTEMPTS) throw new Error(`${dirname(path)} is deleted again and again`)
  }
}

async function write(file: FileHandle, bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<number> {
  try {
    let size = 0
    for await (const chunk of bytes) {
      signal?.throwIfAborted()
      for (let done = 0; done < chunk.length; ) done += (await file.write(chunk, done)).bytesWritten
      size += chunk.length
    }
    signal?.throwIfAborted()
    await file.sync()
    return size
  } finally {
    await file.close()
  }
}

/** The bytes of a file from `start` to before `end`. */
async function* read(
  path: string,
  { start, end }: { start: number; end: number },
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r')
  try {
    const most = end - start <= SHORT_BYTES ? SHORT_BYTES : READ_BYTES
    for (let at = start; at < end; ) {
      signal?.throwIfAborted()
      const buffer = Buffer.allocUnsafeSlow(Math.min(most, end - at))
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
      if (bytesRead === 0) return
      yield bytesRead < buffer.length ? buffer.subarray(0, bytesRead) : buffer
      at += bytesRead
    }
  } finally {
    await file.close()
  }
}

/** Creates a folder that is still there after a power failure, with those above it. */
async function createDurably(folder: string, root: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  // A folder that another write has just created may not be synced yet.
  const highest = (first ?? (folder === root ? `${folder}/` : folder)).length
  for (let created = folder; created.length >= highest; created = dirname(created)) await sync(dirname(created))
}

/** Creates the folders between the root and this one, and never the root. @throws Error with code ENOENT without the root */
async function createBelow(folder: string, root: string): Promise<void> {
  if (folder === root) return
  await createBelow(dirname(folder), root)
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  // One that another write has just created may not be synced yet.
  await sync(dirname(folder))
}

async function eachAbandoned(folder: string, act: (path: string) => Promise<void>): Promise<void> {
  for (const name of (await readdir(folder).catch(ifMissing)) ?? []) {
    if (!UNFINISHED.test(name)) continue
    const stats = await stat(join(folder, name)).catch(ifMissing)
    if (stats && isAbandoned(name, stats.mtimeMs)) await act(join(folder, name))
  }
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}
