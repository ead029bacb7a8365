import { ChatError } from '../core/errors.ts'
import { createFolder } from '../storage/objects/fs.ts'
import type { Objects } from '../storage/objects/objects.ts'
import { createBucket } from '../storage/objects/s3.ts'
import { createUnstorageObjects, type FilesLike } from '../storage/objects/unstorage.ts'
import type { Space } from '../storage/space.ts'
import { toBucket } from './bucket-url.ts'
import { createDiskPacer } from './disk-pacer.ts'
import { toStoreFailure } from './failures.ts'
import { MARKER_KEY, type Marker, parseMarker, toMarkerBytes } from './marker.ts'
import type { Range } from './ranges.ts'

/** The maximum size of a value: all of it is in memory. */
export const MAX_VALUE_BYTES = 4 * 1024 * 1024

/** The form of a key: the id of a blob, and the number of a part. Other keys of a store are not ours. */
const KEY = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[1-9]\d{0,6}$/

/**
 * A store of values of up to 4 MiB under keys like `<uuid>/<number>`. Each call throws `storage_full` if there is no room,
 * and `unavailable` if the place does not answer, or the store is closed.
 */
export interface FileStore {
  /** The place, to print: without secrets. */
  readonly place: string
  /** The size of the pieces in which a value is read best, a power of two, at most that of a value. */
  readonly piece_bytes: number
  /** Whether it is a folder: a disk that is not mounted there leaves an empty one. */
  readonly is_folder: boolean
  /**
   * Stores a value: as a whole or not at all, and durable when the promise resolves. Replaces one of the same key. The
   * bytes are the caller's again once the promise is settled.
   *
   * @param options.is_there does not create the folder of the store
   */
  put(key: string, bytes: Uint8Array, options?: { is_there?: boolean }): Promise<void>
  /** A value, or a part of it, as far as it goes; `undefined` if there is none. */
  get(key: string, range?: Partial<Range>): Promise<Uint8Array | undefined>
  /** Removes a value, if there is one. */
  remove(key: string): Promise<void>
  /** The sizes of the values of an id, by number. */
  sizes(id: string): Promise<Map<number, number>>
  /** Every key, in any order. It reads the whole place: only for a check of it. */
  keys(): AsyncIterable<string>
  /**
   * Deletes what writes of killed processes have left, an hour after them; with `dry_run` only counts.
   *
   * @returns how many there were
   */
  removeUnfinished(options?: { dry_run?: boolean }): Promise<number>
  /** The marker of the place; `undefined` if there is none, or no readable one. */
  marker(): Promise<Marker | undefined>
  /** Writes the marker, and creates the folder of the store. */
  mark(marker: Marker): Promise<void>
  /** The disk of a folder; `undefined` for a bucket, and a storage of the host's. */
  space(): Promise<Space | undefined>
  /** Breaks off what is under way, and waits for its end. */
  close(): Promise<void>
}

/**
 * Opens a store of files; nothing is read or written yet.
 *
 * @param target `fs:<folder>`, `s3://<bucket>/<prefix>?endpoint=…&region=…`, or an unstorage `Storage` of the host's
 * @param env the environment with the keys of S3: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`
 * @param callsAnswered how many calls a service on the same disk has responded to: writes to a folder leave them room
 * @throws Error for another target, and when the keys of S3 are missing
 */
export function openFileStore(
  target: string | FilesLike,
  { env = process.env, callsAnswered = () => 0 }: { env?: NodeJS.ProcessEnv; callsAnswered?: () => number } = {},
): FileStore {
  const objects = openPlace(target, env)
  if (typeof target !== 'string' || !target.startsWith('fs:')) return createFileStore(objects)
  const turns = createDiskPacer(callsAnswered)
  return createFileStore(objects, (write, signal) => turns.run(write, signal))
}

/** A store of files in a place for objects. */
export function openFileStoreIn(objects: Objects): FileStore {
  return createFileStore(objects)
}

function openPlace(target: string | FilesLike, env: NodeJS.ProcessEnv): Objects {
  if (typeof target !== 'string') return createUnstorageObjects(target)
  if (target.startsWith('s3://')) return createBucket(toBucket(target, env))
  const folder = /^fs:(.+)$/s.exec(target)?.[1]
  if (folder === undefined) throw new Error(`${target} is no place for files: it begins with fs: or s3://`)
  return createFolder(folder)
}

/** Calls that are broken off together, and waited for. */
interface Calls {
  run<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T>
  isClosed(): boolean
  close(): Promise<void>
}

function createCalls(): Calls {
  const closing = new AbortController()
  const pending = new Set<Promise<unknown>>()
  return {
    async run(call) {
      if (closing.signal.aborted) throw new ChatError('unavailable', { message: 'The store of files is closed.' })
      const running = call(closing.signal)
      pending.add(running)
      try {
        return await running
      } catch (error) {
        throw toStoreFailure(error)
      } finally {
        pending.delete(running)
      }
    },
    isClosed: () => closing.signal.aborted,
    async close() {
      closing.abort()
      await Promise.allSettled(pending)
    },
  }
}

/** @param inTurn runs writes when their turn comes */
function createFileStore(
  objects: Objects,
  inTurn = <T>(write: () => Promise<T>, _signal: AbortSignal): Promise<T> => write(),
): FileStore {
  const calls = createCalls()
  return {
    place: objects.place,
    piece_bytes: Math.min(objects.piece_bytes, MAX_VALUE_BYTES),
    is_folder: objects.space !== undefined,

    async put(key, bytes, { is_there = false } = {}) {
      assertFileKey(key)
      if (bytes.length > MAX_VALUE_BYTES) throw new Error(`A value of ${bytes.length} bytes is too long`)
      const options = { about_bytes: bytes.length, is_there }
      const write = (signal: AbortSignal) => objects.put(key, one(bytes), { ...options, signal })
      await calls.run((signal) => inTurn(() => write(signal), signal))
    },

    async get(key, { start = 0, end = MAX_VALUE_BYTES } = {}) {
      assertFileKey(key)
      return calls.run((signal) => readValue(objects, key, { start, end }, signal)).catch(ifMissing)
    },

    async remove(key) {
      assertFileKey(key)
      await calls.run((signal) => objects.delete(key, { signal }))
    },

    sizes: (id) => calls.run(() => sizesOf(objects, id)),

    async *keys() {
      try {
        for await (const key of objects.keys()) {
          if (calls.isClosed()) return
          if (KEY.test(key)) yield key
        }
      } catch (error) {
        throw toStoreFailure(error)
      }
    },

    removeUnfinished: (options) => calls.run(() => objects.removeUnfinished(options)),

    marker: () => calls.run((signal) => readMarker(objects, signal)).catch(ifMissing),

    async mark(marker) {
      await calls.run((signal) => objects.put(MARKER_KEY, one(toMarkerBytes(marker)), { about_bytes: 200, signal }))
    },

    space: () => calls.run(async () => objects.space?.()),

    close: calls.close,
  }
}

/** A marker is short: of a foreign object of its name no more is read. */
const MAX_MARKER_BYTES = 4096

async function readMarker(objects: Objects, signal: AbortSignal): Promise<Marker | undefined> {
  const bytes = await objects.get(MARKER_KEY, { end: MAX_MARKER_BYTES - 1, signal })
  return bytes && parseMarker(await joined(bytes))
}

async function readValue(
  objects: Objects,
  key: string,
  { start, end }: Range,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  // One byte more than there may be, so that a foreign value is noticed, and never read as a whole.
  const last = end < MAX_VALUE_BYTES ? end - 1 : MAX_VALUE_BYTES
  const bytes = await objects.get(key, { start, end: last, signal })
  const value = bytes && (await joined(bytes))
  if (value && start + value.length > MAX_VALUE_BYTES) throw new Error(`${key} is longer than any value stored here`)
  return value
}

async function sizesOf(objects: Objects, id: string): Promise<Map<number, number>> {
  const sizes = new Map<number, number>()
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await objects.list(`${id}/`, { after })
    for (const { key, bytes } of page.objects) if (KEY.test(key)) sizes.set(Number(key.slice(id.length + 1)), bytes)
    after = page.next
  }
  return sizes
}

/** The pieces as one: a single one is not copied. */
async function joined(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** A value that was deleted after it was found is missing, too. */
function ifMissing(error: ChatError): undefined {
  if ((error.cause as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT') throw error
}

function assertFileKey(key: string): void {
  if (!KEY.test(key)) throw new Error(`${key} is not a key of a file`)
}
