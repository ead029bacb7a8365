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

/** The history and the place of an SSE id. The place is `undefined` for a text that is none. */
export function parseEventId<P>(
  id: string,
  parsePlace: (text: string) => P | undefined,
): { epoch?: string | undefined; place: P | undefined } {
  const [, epoch, text = ''] = (id.length <= MAX_LENGTH.position && /^([0-9a-f]{16})\.(.+)$/.exec(id)) || []
  return { epoch, place: parsePlace(text) }
}

/** A place that is a number. @returns `undefined` for a text of another form */
export function parseNumber(text: string): number | undefined {
  return /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : undefined
}

/** The start of the stream of a reader whose last event was `last_event_id`. */
export function startFrom(last_event_id: string | undefined, head: Head): Start {
  if (last_event_id === undefined) return { resumed: false, seq: head.last }
  const refuse = (reason: ResetReason): Start => ({
    resumed: false,
    seq: head.last,
    reason,
  })

  const { epoch, place: seq } = parseEventId(last_event_id, parseNumber)
  if (seq === undefined) return refuse('malformed')
  if (epoch !== head.epoch) return refuse('unknown')
  if (seq > head.last) return refuse('future')
  const oldest = head.first > 0 ? head.first - 1 : head.last
  return seq < oldest ? refuse('expired') : { resumed: true, seq }
}
