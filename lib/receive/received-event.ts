import type { FeedEvent } from '../api/feed.ts'

type WithoutPosition<Event> = Event extends unknown ? Omit<Event, 'position'> & { position?: string } : never

/**
 * An event as webhooks and the feed have it. With `payload: thin` or `truncated`, `data` has only ids, numbers, instants
 * and the `url` of what it is about.
 */
export type AppliedEvent = WithoutPosition<FeedEvent> & { truncated?: true }

/** What happens once for each event. A throw rolls it back together with all of its page; it is then repeated. */
export type Effect<Tx> = (tx: Tx, event: AppliedEvent) => unknown

/** Why events are missing: read again what you keep, from the API. */
export interface ReceiveReset {
  /** From the feed `malformed`, `unknown`, `future`, `expired`; from a webhook `age`, `history`, `since`, `dead`. */
  reason: string
  /** Where the events continue. */
  position: string
  /** What `webhook.gap` has beside: the conversation, the event, and from where to where events are missing. */
  gap?: Record<string, unknown>
}
