import { buffer } from 'node:stream/consumers'
import { assertKey, type Objects } from './objects.ts'

/** The methods of an unstorage `Storage` used here. */
export interface FilesLike {
  getItemRaw(key: string): Promise<unknown>
  setItemRaw(key: string, value: Uint8Array): Promise<void>
  removeItem(key: string): Promise<void>
  hasItem(key: string): Promise<boolean>
  getKeys(base?: string): Promise<string[]>
}

/**
 * Objects in an unstorage `Storage` of the host's, which reads and writes whole values: for small objects only. They are as
 * durable as its driver makes them.
 */
export function createUnstorageObjects(storage: FilesLike): Objects {
  const read = async (key: string) => {
    assertKey(key)
    if (!(await storage.hasItem(key))) return undefined
    return toBytes(await storage.getItemRaw(key))
  }
  return {
    place: 'the storage of the host',
    // It reads whole values.
    piece_bytes: Number.MAX_SAFE_INTEGER,

    async put(key, bytes, { signal } = {}) {
      assertKey(key)
      // A copy: the host may keep it, and the caller uses its own again.
      const whole = await buffer(bytes as AsyncIterable<Buffer>)
      signal?.throwIfAborted()
      await storage.setItemRaw(key, whole)
      return whole.length
    },

    async get(key, { start = 0, end } = {}) {
      const bytes = await read(key)
      const part = bytes?.subarray(start, end === undefined ? undefined : end + 1)
      // Copied, if it is small: a reader of it would hold the whole value in memory.
      return part && one(part.length * 2 < bytes!.length ? Uint8Array.from(part) : part)
    },

    async head(key) {
      const bytes = await read(key)
      return bytes && { key, bytes: bytes.length }
    },

    async delete(key) {
      assertKey(key)
      await storage.removeItem(key)
    },

    async list(prefix, { after = '', limit = 1000 } = {}) {
      const all = (await listKeys(storage, prefix)).filter((key) => key.startsWith(prefix) && key > after).sort()
      const page = all.slice(0, limit)
      const objects = []
      for (const key of page) objects.push({ key, bytes: (await read(key))?.length ?? 0 })
      return { objects, ...(all.length > limit && { next: page.at(-1)! }) }
    },

    async *keys() {
      yield* await listKeys(storage)
    },

    removeUnfinished: async () => 0,
  }
}

/** unstorage writes `:` for `/`, and finds only keys below whole names. */
async function listKeys(storage: FilesLike, prefix = ''): Promise<string[]> {
  const below = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  return (await storage.getKeys(below.replaceAll('/', ':'))).map((key) => key.replaceAll(':', '/'))
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Drivers return a buffer, an array of bytes, or nothing if the value was deleted. */
function toBytes(value: unknown): Uint8Array | undefined {
  if (value === null || value === undefined) return undefined
  if (value instanceof Uint8Array) return value
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  throw new Error(`The storage of the host returns ${typeof value} instead of bytes`)
}
