import { ChatError } from '../errors.ts'

/** Runs the works of one key one after another, in the order of the calls. */
export type KeyedMutex<Key = string> = <T>(key: Key, work: () => Promise<T>) => Promise<T>

interface KeyedMutexOptions {
  /** How many works of a key may wait for the one that runs; another one is `unavailable`. */
  each: number
  /** How many works of all keys may wait. Keys whose line is empty never wait, so full lines do not hold them up. */
  all?: number
  /** The message of the error, if it is not the usual one. */
  message?: string
}

/** Creates the lines of one kind of work. */
export function createKeyedMutex<Key = string>({
  each,
  all = Number.POSITIVE_INFINITY,
  message,
}: KeyedMutexOptions): KeyedMutex<Key> {
  const queues = new Map<Key, { last: Promise<unknown>; size: number }>()
  let works = 0
  return async (key, work) => {
    const queue = queues.get(key) ?? { last: Promise.resolve(), size: 0 }
    const hasRoom = queue.size === 0 || (queue.size <= each && works - queues.size < all)
    if (!hasRoom) throw new ChatError('unavailable', { retry_after_seconds: 1, ...(message && { message }) })
    queues.set(key, queue)
    queue.size++
    works++
    const result = queue.last.then(work)
    queue.last = result.catch(() => {})
    try {
      return await result
    } finally {
      works--
      queue.size--
      if (queue.size === 0) queues.delete(key)
    }
  }
}
