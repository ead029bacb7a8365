import type { CloseReason, EphemeralEvent, StreamEvent } from '../../context.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { ResetReason } from '../log/event-ids.ts'
import { type Delivery, encode, outsideOf, removalsIn } from './delivery.ts'
import type { Reader } from './reader.ts'

/** Sends an event to a reader alone, such as one about the stream itself. */
export function sendEvent(reader: Reader, event: StreamEvent | EphemeralEvent, id?: string): void {
  reader.sink.write(encode([id === undefined ? { event } : { id, event }]))
}

/**
 * Sends `stream.ready`, with the id to resume from, and `stream.reset` to a client whose own id could not be used.
 *
 * @param then follows, in the same write
 */
export function sendStart(
  reader: Reader,
  start: { resumed: boolean; reason?: ResetReason; id: string; seq?: number },
  then: EphemeralEvent[] = [],
): void {
  const { resumed, reason, id, seq } = start
  const { conversation_id } = reader
  const where = conversation_id === undefined || seq === undefined ? {} : { conversation_id, seq }
  const without = reader.gets_presence && !reader.is_outside ? {} : { presence: false as const }
  const ready: StreamEvent = { type: 'stream.ready', payload: { ...where, resumed, last_event_id: id, ...without } }
  const reset: StreamEvent[] = reason ? [{ type: 'stream.reset', payload: { reason, last_event_id: id } }] : []
  reader.sink.write(encode([{ id, event: ready }, ...[...reset, ...then].map((event) => ({ event }))]))
}

/**
 * Sends deliveries to readers, and closes a reader with more than `max_buffer_bytes` pending.
 *
 * @param deps.sent is called with each delivery that was written to a reader
 */
export function createSender(deps: {
  max_buffer_bytes: number
  metrics: Metrics
  sent: (reader: Reader, delivery: Delivery) => void
  close: (reader: Reader, reason: CloseReason) => void
}) {
  const { max_buffer_bytes, metrics, sent, close } = deps

  /** Sends events, however many are pending. */
  function write(reader: Reader, delivery: Delivery): void {
    reader.sink.write(delivery)
    if (!reader.is_outside) sent(reader, delivery)
  }

  /** Sends a reader who does not participate what it may have. From the event of its joining on, it gets all. */
  function sendOutside(reader: Reader, delivery: Delivery): void {
    const { part, hides, added } = outsideOf(delivery)
    if (added.has(reader.user_id)) reader.is_outside = false
    if (reader.is_outside && hides) close(reader, 'removed')
    else if (part.events.length > 0) reader.sink.write(part)
  }

  /**
   * Sends new events, or closes a reader that is too far behind. A stream of one conversation ends with the removal of
   * its user.
   */
  function send(reader: Reader, delivery: Delivery, removals?: Map<string, Delivery>): void {
    if (reader.sink.pending() > max_buffer_bytes) {
      close(reader, 'too_slow')
      return
    }
    if (reader.is_outside) {
      sendOutside(reader, delivery)
      return
    }
    const isOfOne = reader.conversation_id !== undefined
    const removal = isOfOne ? (removals ?? removalsIn(delivery)).get(reader.user_id) : undefined
    write(reader, removal ?? delivery)
    if (removal) close(reader, 'removed')
  }

  return {
    write,
    send,

    /** Sends the same bytes to all of these readers. */
    deliver(liveReaders: Set<Reader>, delivery: Delivery): void {
      metrics.delivered(delivery.events.length * liveReaders.size)
      const removals = removalsIn(delivery)
      for (const reader of liveReaders) send(reader, delivery, removals)
    },
  }
}
