import type { CloseReason } from '../../context.ts'
import { CHECKS, hasStalled, type StallState } from '../../core/scheduling/stall-detector.ts'
import type { Reader } from '../readers/reader.ts'

interface StalledDeps {
  all: () => Iterable<Reader>
  /** The open streams of a user, the oldest first. */
  ofUser: (userId: string) => Iterable<Reader>
  close: (reader: Reader, reason: CloseReason) => void
  /** A stream of the user has stalled, or its client reads on. */
  onChange: (userId: string) => void
}

/** Finds the streams whose client reads nothing while events wait for it: a new stream may have their places. */
export function createStalledStreams({ all, ofUser, close, onChange }: StalledDeps) {
  // Only streams with pending bytes, which are few.
  const looked = new Map<Reader, StallState>()
  const isStalled = (reader: Reader) => (looked.get(reader)?.checks ?? 0) >= CHECKS

  function oldestOf(userId: string): Reader | undefined {
    for (const reader of ofUser(userId)) if (isStalled(reader)) return reader
    return undefined
  }

  return {
    /** Called {@link CHECKS} times in the time after which a client has stalled. */
    look(): void {
      for (const reader of all()) {
        const state = reader.sink.progress?.()
        if (state === undefined && !looked.has(reader)) continue
        const was = isStalled(reader)
        const entry = looked.get(reader) ?? { state: undefined, checks: 0 }
        looked.set(reader, entry)
        const is = hasStalled(entry, state)
        if (state === undefined) looked.delete(reader)
        if (is !== was) onChange(reader.user_id)
      }
    },

    /** The user's oldest stream that has stalled. */
    oldestOf,

    /** Ends it. @returns whether there is one */
    endOldest(userId: string): boolean {
      const reader = oldestOf(userId)
      if (reader) close(reader, 'too_slow')
      return reader !== undefined
    },

    leave: (reader: Reader): void => void looked.delete(reader),
  }
}
