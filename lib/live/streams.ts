import type { CloseReason } from '../context.ts'
import { formatComment, formatRetry } from '../core/event-stream.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Delivery } from './delivery.ts'
import type { Reader, StreamSources } from './reader.ts'
import { sendEvent } from './sender.ts'

const HEARTBEAT: Delivery = { bytes: Buffer.from(formatComment('keep-alive')), events: [] }

/** Clients reconnect one to ten seconds after a shutdown, spread out so that they do not reconnect at the same time. */
const RECONNECT_MS = { first: 1_000, apart: 100, turns: 91 }

/** The open streams of this process. */
export type Streams = ReturnType<typeof createStreams>

/** @param deps.onClose is called once for each stream that ends, before the stream gets its last event */
export function createStreams(deps: {
  metrics: Metrics
  findRefusals: StreamSources['findRefusals']
  onClose: (reader: Reader) => void
}) {
  const { metrics, findRefusals, onClose } = deps
  const readers = new Set<Reader>()

  /** @param reason is sent as the last event, if given */
  function close(reader: Reader, reason?: CloseReason): void {
    if (reader.closed) return
    reader.closed = true
    readers.delete(reader)
    onClose(reader)
    if (reason === 'too_slow') metrics.dropped()
    if (reason) sendEvent(reader, { type: 'stream.closed', payload: { reason } })
    reader.sink.end()
  }

  return {
    add: (reader: Reader) => void readers.add(reader),
    close,
    size: () => readers.size,

    /** Closes the streams whose session, user or participation has ended. */
    async recheck(suspects: Reader[] = [...readers]): Promise<void> {
      if (suspects.length === 0) return
      for (const [reader, reason] of await findRefusals(suspects)) close(reader, reason)
    },

    /** Whether the session of a reader may have expired since the last check. */
    hasExpired: (now: number) => [...readers].some((reader) => reader.expires_at < now),

    /** Sends a comment to each reader without pending bytes, so that proxies do not close idle streams. */
    sendHeartbeats(): void {
      for (const reader of readers) if (reader.sink.pending() === 0) reader.sink.write(HEARTBEAT)
    },

    /** Ends all streams; each gets the time after which its client reconnects. */
    drain(): void {
      for (const [index, reader] of [...readers].entries()) {
        const wait = RECONNECT_MS.first + RECONNECT_MS.apart * (index % RECONNECT_MS.turns)
        reader.sink.write({ bytes: Buffer.from(formatRetry(wait)), events: [] })
        close(reader, 'draining')
      }
    },
  }
}
