import { ChatError } from '../core/errors.ts'

/** How many streams each user has open in this process, and whether another one may be opened. */
export type StreamQuota = ReturnType<typeof createStreamQuota>

/** @param max streams that a user may have open at the same time */
export function createStreamQuota(max: number) {
  const streamsOf = new Map<string, number>()
  let isClosed = false
  let onChange: (userId: string) => void = () => {}

  return {
    /**
     * Counts a stream of a user before it opens; `release` gives the place back.
     *
     * @throws ChatError `unavailable` while draining, `too_many_streams` when the user has no place left
     */
    reserve(userId: string): void {
      if (isClosed) throw new ChatError('unavailable', { retry_after_seconds: 1 })
      const open = streamsOf.get(userId) ?? 0
      if (open >= max) throw new ChatError('too_many_streams', { retry_after_seconds: 5 })
      streamsOf.set(userId, open + 1)
    },

    release(userId: string): void {
      const left = (streamsOf.get(userId) ?? 1) - 1
      if (left > 0) streamsOf.set(userId, left)
      else {
        streamsOf.delete(userId)
        if (!isClosed) onChange(userId)
      }
    },

    /** A reserved stream is open now. */
    opened: (userId: string) => onChange(userId),
    /** Open streams of a user in this process. */
    countStreams: (userId: string) => streamsOf.get(userId) ?? 0,
    /** Calls `listener` when a stream of a user opens, and when the last one has closed. */
    onStreams(listener: (userId: string) => void): void {
      onChange = listener
    },
    /** Refuses further streams. */
    close(): void {
      isClosed = true
    },
  }
}
