import type { CloseReason } from '../../context.ts'
import { formatComment, formatRetry } from '../../core/sse-format.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { Delivery } from '../readers/delivery.ts'
import { createIndex } from '../readers/index-by.ts'
import type { Reader } from '../readers/reader.ts'
import { sendEvent } from '../readers/sender.ts'

const HEARTBEAT: Delivery = { bytes: Buffer.from(formatComment('keep-alive')), events: [] }

/** Clients reconnect one to ten seconds after a shutdown, spread out so that they do not reconnect at the same time. */
const RECONNECT_MS = { first: 1_000, apart: 100, turns: 91 }

/** The open streams of this process. */
export type Streams = ReturnType<typeof createStreams>

/** @param deps.onClose is called once for each stream that ends, before the stream gets its last event */
export function createStreams(deps: { metrics: Metrics; onClose: (reader: Reader) => void }) {
  const { metrics, onClose } = deps
  const readers = new Set<Reader>()
  const byUser = createIndex<Reader>()
  const byConversation = createIndex<Reader>()

  /** @param reason is sent as the last event, if given */
  function close(reader: Reader, reason?: CloseReason): void {
    if (reader.closed) return
    reader.closed = true
    readers.delete(reader)
    byUser.remove(reader.user_id, reader)
    if (reader.conversation_id !== undefined) byConversation.remove(reader.conversation_id, reader)
    onClose(reader)
    if (reason === 'too_slow') metrics.dropped()
    if (reason) sendEvent(reader, { type: 'stream.closed', payload: { reason } })
    reader.sink.end()
  }

  return {
    add(reader: Reader): void {
      readers.add(reader)
      byUser.add(reader.user_id, reader)
      if (reader.conversation_id !== undefined) byConversation.add(reader.conversation_id, reader)
    },
    close,
    size: () => readers.size,

    all: (): ReadonlySet<Reader> => readers,
    ofUser: byUser.get,
    ofConversation: byConversation.get,

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
