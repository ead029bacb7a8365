import type { Space } from '../space.ts'

/** A stored object. */
export interface ObjectInfo {
  key: string
  bytes: number
}

/** Options of {@link Objects.put}. */
export interface PutOptions {
  /** About how many bytes will come, to choose the size of parts. Default: up to 80 GB. */
  about_bytes?: number
  /** The place exists: a folder that is away is not created, and the write fails. */
  is_there?: boolean
  signal?: AbortSignal
}

/** Options of {@link Objects.get}. */
export interface GetOptions {
  /** The first byte. Default 0. */
  start?: number
  /** The last byte, included. Default: the last one of the object. */
  end?: number
  signal?: AbortSignal
}

/** A place for large objects: a folder, or a bucket of S3. */
export interface Objects {
  /** The place, to print: without secrets. */
  readonly place: string
  /** The size of the pieces in which an object is read best, a power of two: to read a smaller one costs as much. */
  readonly piece_bytes: number
  /**
   * Stores a stream, of which only a part is in memory. The object exists as a whole or not at all, and replaces one of
   * the same key.
   *
   * @returns its size
   */
  put(key: string, bytes: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<number>
  /** The bytes of an object, or of a part of it; `undefined` if there is none. */
  get(key: string, options?: GetOptions): Promise<AsyncIterable<Uint8Array> | undefined>
  /** `undefined` if there is no such object. */
  head(key: string): Promise<ObjectInfo | undefined>
  /** Deletes an object, if there is one. */
  delete(key: string, options?: { signal?: AbortSignal }): Promise<void>
  /** A page of the objects whose keys begin with `prefix`, in the order of their keys; `next` continues after it. */
  list(prefix: string, options?: { after?: string; limit?: number }): Promise<{ objects: ObjectInfo[]; next?: string }>
  /** Every key, in any order; what is stored or deleted during the call may be among them. */
  keys(): AsyncIterable<string>
  /**
   * Deletes what killed processes were writing: at once if it was a process of this machine, otherwise an hour later. With
   * `dry_run` only counts.
   *
   * @returns how many there were
   */
  removeUnfinished(options?: { dry_run?: boolean }): Promise<number>
  /** The disk of the place, if it has one. */
  space?(): Promise<Space | undefined>
}

/** @throws Error for a key that a file system or S3 would understand as another one */
export function assertKey(key: string): void {
  const parts = key.split('/')
  if (key.length > 512 || !parts.every((part) => /^[\w-][\w.-]*$/.test(part))) throw new Error(`${key} is not a key`)
}
