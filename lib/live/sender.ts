import type { CloseReason, StreamEvent } from '../context.ts'
import type { Metrics } from '../metrics/registry.ts'
import { type Delivery, encode, removalsIn, select } from './delivery.ts'
import type { Reader } from './reader.ts'

/** Sends an event about the stream itself. */
export function sendEvent(reader: Reader, event: StreamEvent, id?: string): void {
  reader.sink.write(encode([id === undefined ? { event } : { id, event }]))
}

/** Sends deliveries to readers, and closes a reader with more than `max_buffer_bytes` pending. */
export function createSender(deps: {
  max_buffer_bytes: number
  metrics: Metrics
  close: (reader: Reader, reason: CloseReason) => void
}) {
  const { max_buffer_bytes, metrics, close } = deps

  /**
   * Sends new events, or closes a reader that is too far behind. A stream of one conversation ends with the removal of
   * its user.
   */
  function send(reader: Reader, delivery: Delivery, removals = removalsIn(delivery)): void {
    if (reader.sink.pending() > max_buffer_bytes) {
      close(reader, 'too_slow')
      return
    }
    const removal = reader.memberships || removals.size === 0 ? undefined : removals.get(reader.user_id)
    const own = reader.memberships ? select(delivery, reader.memberships) : (removal ?? delivery)
    if (own.events.length > 0) reader.sink.write(own)
    if (removal) close(reader, 'removed')
  }

  return {
    send,

    /** Sends the same bytes to all of these readers. */
    deliver(liveReaders: Set<Reader>, delivery: Delivery): void {
      metrics.delivered(delivery.events.length * liveReaders.size)
      const removals = removalsIn(delivery)
      for (const reader of liveReaders) send(reader, delivery, removals)
    },
  }
}
