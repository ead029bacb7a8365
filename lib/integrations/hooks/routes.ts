import { contextOf } from '../../core/context-of.ts'
import { invoke } from '../../core/use-case.ts'
import { route } from '../../endpoint.ts'
import { CreatedHook, HookBody, HookMessage, IncomingHooks } from './schema.ts'
import * as service from './service.ts'

export const create = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/hooks',
  tag: 'Conversations',
  summary: 'Make an address at which a tool posts',
  description:
    'For owners and admins. The tool posts under its name, as a bot that does not participate. Requires a sign-in within the last ten minutes, or `POST /api/auth/confirm` (`confirmation_required`). At most 20 in a conversation, none in a direct one (`conflict`). Not with an API key. 404 unless `hooks.enabled`.',
  access: 'session',
  example: { name: 'Alerts' },
  status: 201,
  output: CreatedHook,
  run: service.create,
})

export const list = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/hooks',
  tag: 'Conversations',
  summary: 'List the incoming hooks of a conversation',
  description: 'For owners and admins: each without its address. Not with an API key. 404 unless `hooks.enabled`.',
  access: 'session',
  output: IncomingHooks,
  run: service.list,
})

export const remove = route({
  method: 'DELETE',
  path: '/api/conversations/{conversation_id}/hooks/{hook_id}',
  tag: 'Conversations',
  summary: 'Delete an incoming hook',
  description: 'Its address is unknown from then on; its messages stay, with their author. Not with an API key.',
  access: 'session',
  status: 204,
  run: service.remove,
})

export const post = route({
  method: 'POST',
  path: '/api/hooks/{token}',
  tag: 'Conversations',
  summary: 'Post by an incoming hook',
  description:
    'Without a sign-in. `{ content, parent_id?, metadata? }` is answered with the message. A body of Slack (`text`, `blocks`, `attachments`), also as the field `payload` of a form, is answered with the text `ok` and 200. One post a second, and 30 at once. `Idempotency-Key` as for posts.',
  access: 'public',
  is_by_address: true,
  form: { field: 'payload' },
  text_if_empty: 'ok',
  body: HookBody,
  example: { content: 'Version 42 is live.' },
  status: 201,
  response_headers: { 'Idempotency-Replayed': 'maybe' },
  output: HookMessage,
  errors: service.post.errors,
  handler: ({ chat, params, body, headers }) =>
    invoke(contextOf(chat), service.post, [params.token], withHeaders(body, headers)) as Promise<HookMessage>,
})

/** A body with what its request has in headers; another value than an object stays as it is, and is refused. */
function withHeaders(body: unknown, headers: Headers): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return {
    ...body,
    idempotency_key: headers.get('idempotency-key') ?? undefined,
    origin: headers.get('x-chat-server-origin') ?? undefined,
  }
}
