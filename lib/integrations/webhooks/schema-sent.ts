import * as v from 'valibot'
import { FeedSubjects } from '../../chat/feed/schema.ts'
import { Id, Instant } from '../../core/schema.ts'

const EventId = v.pipe(v.string(), v.description('The same in each attempt; no other event ever has it'))

const Position = v.pipe(v.string(), v.description('The position at which the feed continues'))

/** Only ids, words of closed lists, numbers and instants, and the `url` of what it is about. */
export const WebhookThinData = v.record(v.string(), v.unknown())

/** What an event is sent in place of where the webhook wants no text, or where it is too large. */
export const WebhookThinEvent = v.object({
  id: EventId,
  timestamp: Instant,
  conversation_id: v.optional(Id),
  seq: v.optional(v.pipe(v.number(), v.integer())),
  subjects: v.optional(FeedSubjects),
  type: v.string(),
  data: WebhookThinData,
  truncated: v.optional(v.pipe(v.literal(true), v.description('The event is larger than `webhooks.max_bytes`'))),
})

/** A challenge, and the answer to it as JSON. */
export const WebhookChallengeAnswer = v.object({ challenge: v.string() })

/** The URL must answer with this challenge before it is sent anything else. */
export const WebhookChallenge = v.object({
  id: EventId,
  type: v.literal('webhook.challenge'),
  timestamp: Instant,
  data: WebhookChallengeAnswer,
})

export const WebhookTestData = v.object({})

/** A test that the owner has asked for. */
export const WebhookTest = v.object({
  id: EventId,
  type: v.literal('webhook.test'),
  timestamp: Instant,
  data: WebhookTestData,
})

export const WebhookGapData = v.object({
  cursor: Position,
  truncated: v.literal(true),
  reason: v.pipe(
    v.picklist(['age', 'history', 'since', 'dead']),
    v.description(
      '`age`: the log has them no more; `history`: they are of another database; `since`: they are from before the log; `dead`: all attempts failed',
    ),
  ),
  from: v.optional(
    v.pipe(
      v.string(),
      v.description(
        'With `age` and `since`: events after this position are missing, or after this instant, where the webhook was to begin at one',
      ),
    ),
  ),
  to: v.optional(v.pipe(v.string(), v.description('With `from`: events up to this position are missing'))),
  conversation_id: v.optional(v.pipe(Id, v.description('With `event_id`: the conversation of the event'))),
  event_id: v.optional(v.pipe(v.string(), v.description('The event, where one is missing'))),
})

/** Some events before this one were not sent. */
export const WebhookGap = v.object({
  id: EventId,
  type: v.literal('webhook.gap'),
  timestamp: Instant,
  data: WebhookGapData,
})
