import { ChatError } from '../../core/errors.ts'

/** Lets calls in until it is closed, which waits for those that are in. */
export interface Door {
  /** @throws ChatError `unavailable` after `close()` */
  enter<T>(call: () => Promise<T>): Promise<T>
  isClosing(): boolean
  /** Lets nobody in any more, and runs `last` when the last one is out; only once, however often it is called. */
  close(last: () => void | Promise<void>): Promise<void>
}

/** An open {@link Door}. */
export function createDoor(): Door {
  const inside = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined
  return {
    async enter<T>(call: () => Promise<T>) {
      if (closing) throw new ChatError('unavailable', { message: 'The storage is closed.' })
      const answer = call()
      inside.add(answer)
      try {
        return await answer
      } finally {
        inside.delete(answer)
      }
    },
    isClosing: () => closing !== undefined,
    close: (last) => (closing ??= Promise.allSettled(inside).then(last)),
  }
}
