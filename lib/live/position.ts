import type { ConversationStreamEvent } from '../context.ts'
import { LONGEST } from '../core/lengths.ts'

/** Where a conversation's log stands: `first` is the oldest sequence number still kept, 0 when there is none. */
export interface Head {
  epoch: string
  first: number
  last: number
}

/** Where a stream starts. Without `resumed`, `reason` says why the given id was of no use, if one was given. */
export type Start =
  | { resumed: true; seq: number }
  | { resumed: false; seq: number; reason?: 'malformed' | 'unknown' | 'future' | 'expired' }

/** The SSE id of the `seq`-th event of a conversation's history. */
export function eventId(epoch: string, seq: number): string {
  return `${epoch}.${seq}`
}

/** Where to start for a reader that last saw `last_event_id`. */
export function startFrom(last_event_id: string | undefined, head: Head): Start {
  if (last_event_id === undefined) return { resumed: false, seq: head.last }
  const refuse = (reason: 'malformed' | 'unknown' | 'future' | 'expired'): Start => ({
    resumed: false,
    seq: head.last,
    reason,
  })

  if (last_event_id.length > LONGEST.token) return refuse('malformed')
  const parts = /^([0-9a-f]{16})\.(0|[1-9]\d{0,15})$/.exec(last_event_id)
  if (!parts) return refuse('malformed')
  const seq = Number(parts[2])
  if (parts[1] !== head.epoch) return refuse('unknown')
  if (seq > head.last) return refuse('future')
  const oldest = head.first > 0 ? head.first - 1 : head.last
  return seq < oldest ? refuse('expired') : { resumed: true, seq }
}

/** An event as it goes over the wire (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export function toFrame(event: ConversationStreamEvent, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
