import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, Limit, opaque, text, typedAs } from '../../core/schema.ts'
import { PersistedEvent } from '../events/schema.ts'
import { Message } from '../messages/schema.ts'

/** How long a call may wait for an event: proxies end silent requests after a minute. */
const MAX_WAIT_SECONDS = 50

const Position = opaque(MAX_LENGTH.position)

export const FeedQuery = v.object({
  after: v.optional(
    v.pipe(
      Position,
      v.description(
        'A `position` of an earlier answer, or the id of an event of `GET /api/stream`. Without it there is no event, but the present position',
      ),
    ),
  ),
  types: v.optional(
    v.pipe(
      text(MAX_LENGTH.event_types),
      v.regex(/^[a-z.*]+(,[a-z.*]+)*$/),
      v.metadata({ pattern: '^[a-z.*]+(,[a-z.*]+)*$' }),
      v.description(
        'Types, separated by commas; `message.*` and `*` include later ones. Default: `*`. `message.delta` and `message.part` come only by their names',
      ),
    ),
  ),
  conversation_id: v.optional(v.pipe(Id, v.description('Only the events of this conversation'))),
  webhook_id: v.optional(
    v.pipe(
      Id,
      v.description(
        'Exactly the events that this webhook of yours, or of a bot of yours, is sent, without the texts that it is not sent. With `types` and `conversation_id` only some of them',
      ),
    ),
  ),
  limit: Limit(100, 1000),
  wait_seconds: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(MAX_WAIT_SECONDS),
      v.description('How long to wait for an event if there is none'),
    ),
    0,
  ),
})

/** For a system actor: the host's own ids of the users that an event names, by user id. */
export const FeedSubjects = v.record(v.string(), v.string())

const Envelope = {
  id: v.pipe(
    v.string(),
    v.regex(/^evt_[a-z0-9_]{1,60}$/),
    v.metadata({ pattern: '^evt_[a-z0-9_]{1,60}$' }),
    v.description('No other event ever has it, also after a restore'),
  ),
  position: v.pipe(v.string(), v.description('The place after this event: `after` of a call that continues here')),
  timestamp: Instant,
  conversation_id: v.optional(Id),
  seq: v.optional(v.pipe(v.number(), v.integer(), v.description('The number of the event in its conversation'))),
  subjects: v.optional(FeedSubjects),
}

type Kind = (typeof PersistedEvent.options)[number]

function toFeedKind({ entries: { type, payload } }: Kind) {
  const entries: v.ObjectEntries = payload.entries
  // As its deltas are left out, the end of an answer has the message.
  const data = type.literal === 'message.done' ? v.object({ ...entries, message: v.optional(Message) }) : payload
  return v.object({ ...Envelope, type, data })
}

/** What every event of the feed has beside its type and data. */
export interface FeedEnvelope {
  id: string
  position: string
  timestamp: string
  conversation_id?: string | undefined
  seq?: number | undefined
  subjects?: Record<string, string> | undefined
}

/** An event as programs get it. */
export type FeedEvent = {
  [Event in PersistedEvent as Event['type']]: FeedEnvelope & {
    type: Event['type']
    data: Event['payload'] & (Event['type'] extends 'message.done' ? { message?: Message | undefined } : unknown)
  }
}[PersistedEvent['type']]
export const FeedEvent = v.variant(
  'type',
  PersistedEvent.options.map(toFeedKind) as never,
) as v.GenericSchema<FeedEvent>

/** Ids, words of closed lists, numbers and instants, and the `url` of what it is about, which whole `data` do not have. */
export const ThinEventData = v.objectWithRest({ url: v.string() }, v.unknown())

/** What a webhook gets in place of an event where it wants no text, or where the event is too large. */
export const FeedThinEvent = v.object({
  ...Envelope,
  type: v.string(),
  data: ThinEventData,
  truncated: v.optional(v.pipe(v.literal(true), v.description('The event is larger than `webhooks.max_bytes`'))),
})

/** An event of an answer: without texts only with `webhook_id`, so that for all others its `type` says what its `data` are. */
const ReturnedEvent = typedAs(v.union([FeedThinEvent, FeedEvent]), FeedEvent)

/** Why events after a position are lost, or that it is of another database: the program reads everything again. */
export const FeedReset = v.object({ reason: v.picklist(['malformed', 'unknown', 'future', 'expired']) })

/** Some events after a position. */
export const FeedPage = v.object({
  events: v.array(ReturnedEvent),
  position: v.pipe(v.string(), v.description('The next `after`; also behind events that the call does not ask for')),
  more: v.optional(v.pipe(v.literal(true), v.description('There may be more: call again at once'))),
  reset: v.optional(FeedReset),
})
export type FeedPage = v.InferOutput<typeof FeedPage>
