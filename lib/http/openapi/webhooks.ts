import type * as v from 'valibot'
import { WebhookChallenge, WebhookEvent, WebhookGap, WebhookTest } from '../../integrations/webhooks/schema-calls.ts'
import { convert, type Json, toPascal } from './schemas.ts'

/** The headers of a call, as Standard Webhooks names them, and those of the service. */
const HEADERS: Record<string, string> = {
  'webhook-id': 'The id of the event, the same in each attempt',
  'webhook-timestamp': 'When this attempt began, in seconds since 1970',
  'webhook-signature':
    'Signatures of `<webhook-id>.<webhook-timestamp>.<body>`, separated by spaces: `v1,` with HMAC-SHA256, or `v1a,` with Ed25519',
  'x-chat-server-webhook': 'The id of the webhook',
  'x-chat-server-position': 'The position right after the event; of events alone',
  'x-chat-server-origin': 'The id of the service that sends',
}

const CALLS: [name: string, summary: string, description: string, body: v.GenericSchema][] = [
  [
    'event',
    'An event for the owner of the webhook',
    '2xx within 15 seconds settles it. 410 disables the webhook; anything else is tried again, up to ten times in three days.',
    WebhookEvent,
  ],
  [
    'gap',
    'Events were skipped',
    'Precedes the next event: the receiver reads what it lacks by other means.',
    WebhookGap,
  ],
  [
    'challenge',
    'A challenge',
    'Sent by `POST /api/webhooks/{webhook_id}/verify`. The answer has 2xx and the challenge, as text or as `{ challenge }`.',
    WebhookChallenge,
  ],
  ['test', 'A test', 'Sent by `POST /api/webhooks/{webhook_id}/test`.', WebhookTest],
]

/** The calls that the service makes to URLs of webhooks. */
export function webhookCalls(): Json {
  return Object.fromEntries(
    CALLS.map(([name, summary, description, body]) => [
      name,
      {
        post: {
          operationId: `webhook${toPascal(name)}`,
          // The signature proves the sender.
          security: [],
          summary,
          description,
          tags: ['Webhooks'],
          parameters: Object.entries(HEADERS).map(([header, meaning]) => ({
            name: header,
            in: 'header',
            required: header !== 'x-chat-server-position',
            description: meaning,
            schema: { type: 'string' },
          })),
          requestBody: { required: true, content: { 'application/json': { schema: convert(body) } } },
          responses: { '2XX': { description: 'The receiver has what it needs. Of the body 4 KiB are read' } },
        },
      },
    ]),
  )
}
