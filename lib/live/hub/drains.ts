import type { CloseReason } from '../../context.ts'
import { CHECKS, hasStalled, type StallState } from '../../core/scheduling/stall-detector.ts'
import type { Reader } from '../readers/reader.ts'

interface DrainsDeps {
  /** How long a client may read nothing. */
  stalled_seconds: number
  close(reader: Reader, reason: CloseReason): void
  /** Is called with a reader that has taken longer than that, but continues reading. */
  isLong(reader: Reader): void
}

interface Drain extends StallState {
  all_looks: number
  end(): void
}

/**
 * Creates the waits for clients to read the missed events that they were sent. A client that reads nothing is closed: what it
 * was sent occupies memory, and no event is sent to it in that time that would show how far it is behind.
 */
export function createDrains({ stalled_seconds, close, isLong }: DrainsDeps) {
  const drains = new Map<Reader, Drain>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    for (const [reader, drain] of drains) {
      drain.all_looks++
      if (hasStalled(drain, reader.sink.progress?.())) close(reader, 'too_slow')
      else if (drain.all_looks > CHECKS) isLong(reader)
    }
    if (drains.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function leave(reader: Reader): void {
    drains.get(reader)?.end()
    drains.delete(reader)
  }

  return {
    /** Resolves when few bytes are pending, or the reader is closed. */
    async drained(reader: Reader): Promise<void> {
      if (reader.closed) return
      await new Promise<void>((resolve, reject) => {
        drains.set(reader, { state: undefined, checks: 0, all_looks: 0, end: resolve })
        timer ??= setInterval(look, (stalled_seconds * 1000) / CHECKS).unref()
        reader.sink.drained().then(() => leave(reader), reject)
      })
    },

    /** Ends the wait for a reader. */
    leave,
  }
}
