import type * as v from 'valibot'
import {
  WebhookChallenge,
  WebhookChallengeAnswer,
  WebhookGap,
  WebhookTest,
  WebhookThinEvent,
} from '../../integrations/webhooks/schema-sent.ts'
import { SENT_EVENTS } from '../../integrations/webhooks/sent-events.ts'
import { convert, type Json, toPascal } from './schemas.ts'

const text = { type: 'string' }

/** The headers of every call, as parameters of the document. */
export const WEBHOOK_HEADERS: Record<string, Json> = {
  WebhookId: header('webhook-id', 'The `id` of the event, the same in each attempt', text),
  WebhookTimestamp: header('webhook-timestamp', 'When the attempt began, in seconds since 1970', text),
  WebhookSignature: header(
    'webhook-signature',
    'Signatures of `<id>.<timestamp>.<body>`, separated by blanks: `v1,` and an HMAC-SHA256, or `v1a,` and an Ed25519 signature, in base64; for 24 hours after a rotation, two',
    text,
  ),
  WebhookOfCall: header('x-chat-server-webhook', 'The id of the webhook', { type: 'string', format: 'uuid' }),
  WebhookOrigin: header('x-chat-server-origin', 'The id of the service, which refuses its own events at hooks', text),
  WebhookPosition: {
    ...header('x-chat-server-position', 'The position right after the event, of events of the log', text),
    required: false,
  },
}

/** What the service posts to the URLs of webhooks: a call for each type of event. */
export function webhookCalls(): Json {
  const events = [...SENT_EVENTS].map(([type, schema]) =>
    toCall(type, {
      summary: `The event \`${type}\``,
      description: 'A webhook that names this type is sent it, whole or without its texts.',
      bodies: [schema, WebhookThinEvent],
    }),
  )
  return Object.fromEntries([
    ...events,
    toCall('webhook.gap', {
      summary: 'Events are missing',
      description: 'Precedes the next event when some were not sent.',
      bodies: [WebhookGap],
    }),
    toCall('webhook.test', {
      summary: 'A test',
      description: 'The owner has asked for it. It stands for no event.',
      bodies: [WebhookTest],
    }),
    toCall('webhook.challenge', {
      summary: 'A challenge',
      description: 'Nothing else is sent until it was answered once, with the challenge, within 5 seconds.',
      bodies: [WebhookChallenge],
      answer: {
        'text/plain': { schema: text },
        'application/json': { schema: convert(WebhookChallengeAnswer) },
      },
    }),
  ])
}

interface Call {
  summary: string
  description: string
  bodies: v.GenericSchema[]
  answer?: Json
}

function toCall(type: string, { summary, description, bodies, answer }: Call): [type: string, path: Json] {
  const schemas = bodies.map(convert)
  const post = {
    operationId: `receive${toPascal(type)}`,
    summary,
    description,
    tags: ['Webhooks'],
    // The signature says who calls.
    security: [],
    parameters: Object.keys(WEBHOOK_HEADERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } } },
    },
    responses: {
      '2XX': { description: 'It was taken, and is not sent again.', ...(answer && { content: answer }) },
      410: { description: 'Nothing is wanted any more: the webhook is disabled.' },
      429: {
        description: 'Too many: fewer calls are made at a time. It is sent again.',
        headers: { 'Retry-After': { description: 'How long no call is made, in seconds or as a date.', schema: text } },
      },
      default: { description: 'It was not taken, and is sent again later.' },
    },
  }
  return [type, { post }]
}

function header(name: string, description: string, schema: Json): Json {
  return { name, in: 'header', required: true, description, schema }
}
