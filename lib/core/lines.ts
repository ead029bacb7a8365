import { ChatError } from './errors.ts'

/** Runs the works of one key one after another, in the order of the calls. */
export type Lines<Key = string> = <T>(key: Key, work: () => Promise<T>) => Promise<T>

interface LinesOptions {
  /** How many works of a key may wait for the one that runs; another one is `unavailable`. */
  each: number
  /** How many works of all keys may wait. Keys whose line is empty never wait, so full lines do not hold them up. */
  all?: number
  /** The message of the error, if it is not the usual one. */
  message?: string
}

/** Creates the lines of one kind of work. */
export function createLines<Key = string>({ each, all = Number.POSITIVE_INFINITY, message }: LinesOptions): Lines<Key> {
  const lines = new Map<Key, { last: Promise<unknown>; size: number }>()
  let works = 0
  return async (key, work) => {
    const line = lines.get(key) ?? { last: Promise.resolve(), size: 0 }
    const hasRoom = line.size === 0 || (line.size <= each && works - lines.size < all)
    if (!hasRoom) throw new ChatError('unavailable', { retry_after_seconds: 1, ...(message && { message }) })
    lines.set(key, line)
    line.size++
    works++
    const result = line.last.then(work)
    line.last = result.catch(() => {})
    try {
      return await result
    } finally {
      works--
      line.size--
      if (line.size === 0) lines.delete(key)
    }
  }
}
