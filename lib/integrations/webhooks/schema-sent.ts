import * as v from 'valibot'
import { FeedThinEvent } from '../../chat/feed/schema.ts'
import { Id, Instant } from '../../core/schema.ts'

const EventId = v.pipe(v.string(), v.description('The same in each attempt; no other event ever has it'))

const Position = v.pipe(v.string(), v.description('The position at which the feed continues'))

const { position: _, ...THIN } = FeedThinEvent.entries

/** What is sent in place of an event where the webhook wants no text, or where the event is too large. */
export const WebhookThinEvent = v.object({ ...THIN, id: EventId })

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
      '`age`: the log has them no more; `history`: they are of another database; `since`: they are from before the log, or from before the webhook was enabled again; `dead`: all attempts failed',
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
