import { ChatError } from '../core/errors.ts'

/** Tracks the calls in progress: closing waits for them. */
export interface InFlight {
  /** @throws ChatError `unavailable` after `close()` */
  track<T>(call: () => Promise<T>): Promise<T>
  isClosing(): boolean
  /**
   * Refuses further calls, and runs `last` when the calls in progress have ended; only once, however often it is
   * called.
   */
  close(last: () => void | Promise<void>): Promise<void>
}

/** An open {@link InFlight}. */
export function createInFlight(): InFlight {
  const calls = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined
  return {
    async track<T>(call: () => Promise<T>) {
      if (closing) throw new ChatError('unavailable', { message: 'The storage is closed.' })
      const answer = call()
      calls.add(answer)
      try {
        return await answer
      } finally {
        calls.delete(answer)
      }
    },
    isClosing: () => closing !== undefined,
    close: (last) => (closing ??= Promise.allSettled(calls).then(last)),
  }
}
