import { route } from '../../endpoint.ts'
import { CallOutcome, CreatedWebhook, RotatedSecret, WebhookAnswer, Webhooks } from './schema.ts'
import { ReplayedDelivery, ReplayedWebhook, WebhookDeliveries } from './schema-deliveries.ts'
import * as service from './service.ts'
import * as calls from './service-calls.ts'
import * as deliveries from './service-deliveries.ts'

const path = '/api/webhooks'
const one = '/api/webhooks/{webhook_id}'

export const create = route({
  method: 'POST',
  path,
  tag: 'Webhooks',
  summary: 'Make a webhook: a URL that is called with each event',
  description:
    'It gets what `GET /api/stream` would show you, or with `bot_id` your bot. Each call is signed as Standard Webhooks says, with the `secret` of this answer, or with `signature: v1a` by a key pair whose `public_key` the webhook has. A URL of a user is `unverified`, and gets nothing, until it returns the challenge of `POST …/verify`: unless its host is in `webhooks.trusted_hosts`, or an administrator makes it. Requires a sign-in within the last ten minutes, or `POST /api/auth/confirm` (`confirmation_required`), or an API key: with the key the webhook ends. At most `webhooks.max_per_user` (`conflict`). 404 unless `webhooks.enabled`.',
  access: 'session',
  example: { url: 'https://crm.example.org/chat-events' },
  status: 201,
  output: CreatedWebhook,
  run: service.createOwn,
})

export const list = route({
  method: 'GET',
  path,
  tag: 'Webhooks',
  summary: 'List your webhooks',
  description: 'And those of your bots, the oldest first. 404 unless `webhooks.enabled`.',
  access: 'session',
  output: Webhooks,
  run: service.listOwn,
})

export const get = route({
  method: 'GET',
  path: one,
  tag: 'Webhooks',
  summary: 'Read a webhook',
  description:
    'How far it is, and what waits to be sent again. Its secret and the values of its headers are in no answer.',
  access: 'session',
  output: WebhookAnswer,
  run: service.get,
})

export const change = route({
  method: 'PATCH',
  path: one,
  tag: 'Webhooks',
  summary: 'Change, enable or disable a webhook',
  description:
    'A missing field keeps its value; `headers` replaces all of them. Another `url` must return a challenge again, and requires a sign-in within the last ten minutes. With another `signature` the webhook has a new secret; `POST …/rotate` returns another one. A disabled webhook goes on where it stopped when it is enabled; after `restored` and `secret_lost` it goes on from now. With an API key, only webhooks that it has made.',
  access: 'session',
  example: { types: ['message.*'], enabled: true },
  output: WebhookAnswer,
  run: service.change,
})

export const remove = route({
  method: 'DELETE',
  path: one,
  tag: 'Webhooks',
  summary: 'Delete a webhook',
  description: 'No call begins afterwards. With an API key, only webhooks that it has made.',
  access: 'session',
  status: 204,
  run: service.remove,
})

export const verify = route({
  method: 'POST',
  path: `${one}/verify`,
  tag: 'Webhooks',
  summary: 'Send a challenge to a webhook',
  description:
    'The URL is called with a signed `webhook.challenge` `{ challenge }`, and returns the challenge with 2xx within five seconds, as its text or as `{ challenge }`: then the webhook is active. The answer is 200 in any case, with an `error` if it has not. A webhook that is unverified for seven days is removed. Ten calls a minute.',
  access: 'session',
  output: CallOutcome,
  run: calls.verify,
})

export const test = route({
  method: 'POST',
  path: `${one}/test`,
  tag: 'Webhooks',
  summary: 'Send a test event to a webhook',
  description: 'The URL is called with a signed `webhook.test`, within five seconds. Ten calls a minute.',
  access: 'session',
  output: CallOutcome,
  run: calls.test,
})

export const rotate = route({
  method: 'POST',
  path: `${one}/rotate`,
  tag: 'Webhooks',
  summary: 'Replace the secret of a webhook',
  description:
    'For a day, calls have the signatures of both. Requires a sign-in within the last ten minutes, or the API key that has made the webhook.',
  access: 'session',
  output: RotatedSecret,
  run: calls.rotate,
})

export const listDeliveries = route({
  method: 'GET',
  path: `${one}/deliveries`,
  tag: 'Webhooks',
  summary: 'List what became of the events of a webhook',
  description:
    'Newest first, each with its last attempts, and without the text of the event. Of delivered ones the last 1,000 of seven days are kept, of those that were given up 10,000 of thirty days.',
  access: 'session',
  output: WebhookDeliveries,
  run: deliveries.listDeliveries,
})

export const replayDelivery = route({
  method: 'POST',
  path: `${one}/deliveries/{delivery_id}/replay`,
  tag: 'Webhooks',
  summary: 'Send an event to a webhook again',
  description:
    'It is sent as it is now, with the same id and as many attempts as a new one. 409 for one that is pending anyway, 404 for one that the log has no more, or of over 14 days ago. With an API key, only for webhooks that it has made.',
  access: 'session',
  status: 202,
  output: ReplayedDelivery,
  run: deliveries.replayDelivery,
})

export const replay = route({
  method: 'POST',
  path: `${one}/replay`,
  tag: 'Webhooks',
  summary: 'Send all events to a webhook again that came after an instant or a position',
  description:
    'It moves the position of the webhook back, or leaves it where it is further back already: what was delivered comes again, with the same ids. 404 for what the log has no more, or of over 14 days ago. With an API key, only for webhooks that it has made.',
  access: 'session',
  status: 202,
  example: { since: '2026-07-01T08:00:00Z' },
  output: ReplayedWebhook,
  run: deliveries.replay,
})
