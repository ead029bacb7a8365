import { ChatError } from './errors.ts'

/** Runs the works of one key one after another, in the order of the calls. */
export type Lines = <T>(key: string, work: () => Promise<T>) => Promise<T>

/**
 * Creates the lines of one kind of work.
 *
 * @param most how many works of a key may wait or run; another one is `unavailable`
 */
export function createLines(most: number): Lines {
  const lines = new Map<string, { last: Promise<unknown>; size: number }>()
  return async (key, work) => {
    const line = lines.get(key) ?? { last: Promise.resolve(), size: 0 }
    if (line.size >= most) throw new ChatError('unavailable', { retry_after_seconds: 1 })
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
