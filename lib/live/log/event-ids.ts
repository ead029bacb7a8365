import { MAX_LENGTH } from '../../core/lengths.ts'

/** The ends of a log: `first` is the oldest sequence number that is stored, 0 for an empty log. */
export interface Head {
  epoch: string
  first: number
  last: number
}

/** Why a stream cannot resume. */
export type ResetReason = 'malformed' | 'unknown' | 'future' | 'expired'

/** The start of a stream. If an id was given and the stream cannot resume from it, `reason` is the reason. */
export type Start = { resumed: true; seq: number } | { resumed: false; seq: number; reason?: ResetReason }

/** The SSE id of an event: its place, in a conversation its number, in a history. */
export function eventId(epoch: string, place: number | string): string {
  return `${epoch}.${place}`
}

/** The start of the stream of a reader whose last event was `last_event_id`. */
export function startFrom(last_event_id: string | undefined, head: Head): Start {
  if (last_event_id === undefined) return { resumed: false, seq: head.last }
  const refuse = (reason: ResetReason): Start => ({
    resumed: false,
    seq: head.last,
    reason,
  })

  if (last_event_id.length > MAX_LENGTH.token) return refuse('malformed')
  const parts = /^([0-9a-f]{16})\.(0|[1-9]\d{0,15})$/.exec(last_event_id)
  if (!parts) return refuse('malformed')
  const seq = Number(parts[2])
  if (parts[1] !== head.epoch) return refuse('unknown')
  if (seq > head.last) return refuse('future')
  const oldest = head.first > 0 ? head.first - 1 : head.last
  return seq < oldest ? refuse('expired') : { resumed: true, seq }
}
