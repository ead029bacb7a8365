import { ChatError } from './errors.ts'

/** Runs the works of one key one after another, in the order of the calls. */
export type Lines<Key = string> = <T>(key: Key, work: () => Promise<T>) => Promise<T>

/**
 * Creates the lines of one kind of work.
 *
 * @param most how many works of a key may wait for the one that runs; another one is `unavailable`
 * @param message of that error, if it is not the usual one
 */
export function createLines<Key = string>(most: number, message?: string): Lines<Key> {
  const lines = new Map<Key, { last: Promise<unknown>; size: number }>()
  return async (key, work) => {
    const line = lines.get(key) ?? { last: Promise.resolve(), size: 0 }
    if (line.size > most) throw new ChatError('unavailable', { retry_after_seconds: 1, ...(message && { message }) })
    lines.set(key, line)
    line.size++
    const result = line.last.then(work)
    line.last = result.catch(() => {})
    try {
      return await result
    } finally {
      line.size--
      if (line.size === 0) lines.delete(key)
    }
  }
}
