import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { newId } from '../../core/ids.ts'
import { assertKey, type ObjectInfo, type Objects } from './objects.ts'

/** The names of files that are not complete begin with a dot, as no key does. */
const UNFINISHED = /^\..+\.partial$/

/** A file that is being written changes all the time: one that has not for so long was left by a killed process. */
const STALLED_MS = 60 * 60_000

/** Objects as files of a folder, which is created with the first one. Only this user may read them. */
export function createFolder(path: string): Objects {
  const root = resolve(path)
  const fileOf = (key: string) => {
    assertKey(key)
    return join(root, ...key.split('/'))
  }
  return {
    place: root,

    async put(key, bytes, { signal } = {}) {
      const file = fileOf(key)
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await deleteStalled(dirname(file))
      const partial = join(dirname(file), `.${basename(file)}.${newId()}.partial`)
      try {
        const size = await writeFile(partial, bytes, signal)
        await rename(partial, file)
        await sync(dirname(file))
        return size
      } finally {
        await rm(partial, { force: true })
      }
    },

    async get(key, { start = 0, end, signal } = {}) {
      const file = fileOf(key)
      const found = await stat(file).catch(ifMissing)
      if (!found?.isFile()) return undefined
      return createReadStream(file, { start, ...(end !== undefined && { end }), ...(signal && { signal }) })
    },

    async head(key) {
      const found = await stat(fileOf(key)).catch(ifMissing)
      return found?.isFile() ? { key, bytes: found.size } : undefined
    },

    async delete(key) {
      await rm(fileOf(key), { force: true })
    },

    async list(prefix, { after = '', limit = 1000 } = {}) {
      const keys = (await keysOf(root, '', prefix)).filter((key) => key > after).sort()
      const page = keys.slice(0, limit)
      const sizes = await Promise.all(page.map((key) => stat(join(root, key)).catch(ifMissing)))
      const objects = page.flatMap((key, n): ObjectInfo[] => (sizes[n] ? [{ key, bytes: sizes[n].size }] : []))
      return { objects, ...(keys.length > limit && { next: page.at(-1)! }) }
    },
  }
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

async function writeFile(path: string, bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<number> {
  const file = await open(path, 'wx', 0o600)
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

async function deleteStalled(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!UNFINISHED.test(name)) continue
    const found = await stat(join(folder, name)).catch(ifMissing)
    if (found && Date.now() - found.mtimeMs > STALLED_MS) await rm(join(folder, name), { force: true })
  }
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}
