import { ChatError } from '../../core/errors.ts'

/** Counts the open streams of each user in this process, and limits them. */
export type StreamQuota = ReturnType<typeof createStreamQuota>

/** @param max the number of streams that a user may have open at the same time */
export function createStreamQuota(max: number) {
  const streamsOf = new Map<string, number>()
  let isClosed = false
  let onChange: (userId: string) => void = () => {}

  return {
    /**
     * Counts a stream of a user before it opens; `release` subtracts it again.
     *
     * @param remoteStreams the number of open streams of the user at other processes
     *
     * @throws ChatError `unavailable` while draining, `too_many_streams` at the limit of the user
     */
    reserve(userId: string, remoteStreams = 0): void {
      if (isClosed) throw new ChatError('unavailable', { retry_after_seconds: 1 })
      const open = streamsOf.get(userId) ?? 0
      if (open + remoteStreams >= max) throw new ChatError('too_many_streams', { retry_after_seconds: 5 })
      streamsOf.set(userId, open + 1)
    },

    release(userId: string): void {
      const left = (streamsOf.get(userId) ?? 1) - 1
      if (left > 0) streamsOf.set(userId, left)
      else streamsOf.delete(userId)
      if (!isClosed) onChange(userId)
    },

    /** Whether a user can open no further stream. */
    isFull: (userId: string, remoteStreams: number) => !isClosed && (streamsOf.get(userId) ?? 0) + remoteStreams >= max,
    /** Reports that a reserved stream is open, or that what is known of a stream of the user has changed. */
    report: (userId: string) => onChange(userId),
    /** The number of open streams of a user in this process. */
    countStreams: (userId: string) => streamsOf.get(userId) ?? 0,
    /** Calls `listener` when a stream of a user opens, stalls, reads on or closes. */
    onStreams(listener: (userId: string) => void): void {
      onChange = listener
    },
    /** Refuses further streams. */
    close(): void {
      isClosed = true
    },
  }
}
