import * as v from 'valibot'
import { FeedSubjects } from '../../chat/feed/schema.ts'
import { Id, Instant } from '../../core/schema.ts'

const EventId = v.pipe(
  v.string(),
  v.description('The same in each attempt, as `webhook-id`: a receiver acts once on each'),
)

export const WebhookEventData = v.pipe(
  v.record(v.string(), v.unknown()),
  v.description(
    'As of the event of this type in `GET /api/feed`. Of `payload: thin`, and with `truncated`: ids, enumerations, numbers and instants only, and `url` of the resource',
  ),
)

/** What a receiver is sent for an event. */
export const WebhookEvent = v.object({
  id: EventId,
  type: v.pipe(v.string(), v.description('Such as `message.new`')),
  timestamp: Instant,
  conversation_id: v.optional(Id),
  seq: v.optional(v.pipe(v.number(), v.integer(), v.description('The number of the event in its conversation'))),
  data: WebhookEventData,
  truncated: v.optional(v.pipe(v.literal(true), v.description('The whole event is larger than `webhooks.max_bytes`'))),
  subjects: v.optional(FeedSubjects),
})

/** Which events were skipped before the next one. */
export const WebhookGapData = v.object({
  cursor: v.pipe(v.string(), v.description('A position: the events after it are sent')),
  truncated: v.literal(true),
  reason: v.picklist(['age', 'history', 'since', 'dead']),
  from: v.optional(Instant),
  to: v.optional(Instant),
  conversation_id: v.optional(Id),
  event_id: v.optional(v.pipe(v.string(), v.description('The event that no attempt has delivered, if it is one'))),
})

export const WebhookGap = v.object({
  id: EventId,
  type: v.literal('webhook.gap'),
  timestamp: Instant,
  data: WebhookGapData,
})

export const WebhookChallengeData = v.object({ challenge: v.string() })

export const WebhookChallenge = v.object({
  id: EventId,
  type: v.literal('webhook.challenge'),
  timestamp: Instant,
  data: WebhookChallengeData,
})

/** Nothing: a test has no event. */
export const WebhookTestData = v.object({})

export const WebhookTest = v.object({
  id: EventId,
  type: v.literal('webhook.test'),
  timestamp: Instant,
  data: WebhookTestData,
})
