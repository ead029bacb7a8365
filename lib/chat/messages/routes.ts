import { contextOf } from '../../core/context-of.ts'
import { type AnyUseCase, invoke } from '../../core/use-case.ts'
import { type Call, route } from '../../endpoint.ts'
import { IdempotencyHeader, Message, MessageInput, PostedMessage, RootInput } from './schema.ts'
import { Revisions } from './schema-revisions.ts'
import * as service from './service.ts'
import * as changes from './service-changes.ts'

export const postRoot = route({
  method: 'POST',
  path: '/api/threads/{conversation_id}/root',
  tag: 'Threads and messages',
  summary: 'Start a thread',
  description:
    'With the role `assistant`, the assistant writes the message: `content` is then the question, and the answer streams into the message. Left out, the role is `assistant` in a conversation with the layout `assistant`, else `user`; that of a bot is always `user`.',
  access: 'session',
  headers: IdempotencyHeader,
  body: RootInput,
  example: { content: 'Does it run?' },
  status: 201,
  response_headers: { 'Idempotency-Replayed': 'maybe' },
  output: PostedMessage,
  errors: service.postRoot.errors,
  confirms_session: true,
  handler: (call) => post(service.postRoot, call, call.params.conversation_id),
})

export const reply = route({
  method: 'POST',
  path: '/api/messages/{parent_id}/reply',
  tag: 'Threads and messages',
  summary: 'Reply to a message',
  description:
    'Replies nest down to `limits.max_depth`. With the role `assistant`, the assistant writes the reply. Left out, the role is that of a root.',
  access: 'session',
  headers: IdempotencyHeader,
  body: MessageInput,
  example: { content: 'It runs.' },
  status: 201,
  response_headers: { 'Idempotency-Replayed': 'maybe' },
  output: PostedMessage,
  errors: service.reply.errors,
  confirms_session: true,
  handler: (call) => post(service.reply, call, call.params.parent_id),
})

/** Calls a use-case of posts with the key of the header. As of every call over HTTP, unknown fields are ignored. */
function post(
  useCase: AnyUseCase,
  {
    chat,
    actor,
    body,
    headers,
  }: Pick<Call<string, 'session', undefined, typeof MessageInput>, 'chat' | 'actor' | 'body' | 'headers'>,
  id: string,
): Promise<PostedMessage> {
  const input = { ...body, idempotency_key: headers.get('idempotency-key') ?? undefined }
  return invoke(contextOf(chat), useCase, [actor, id], input) as Promise<PostedMessage>
}

export const get = route({
  method: 'GET',
  path: '/api/messages/{message_id}',
  tag: 'Threads and messages',
  summary: 'Read a message',
  description: 'The current state. A deleted message has no text.',
  access: 'session',
  output: Message,
  run: service.get,
})

export const listRevisions = route({
  method: 'GET',
  path: '/api/messages/{message_id}/revisions',
  tag: 'Threads and messages',
  summary: 'List the revisions of a message, oldest first',
  description:
    'The last `limits.revisions_per_message` (100) previous texts. Empty for a message that was never edited, and for a deleted one. Continue with `after`.',
  access: 'session',
  output: Revisions,
  run: service.listRevisions,
})

export const edit = route({
  method: 'POST',
  path: '/api/messages/{message_id}/edit',
  tag: 'Threads and messages',
  summary: 'Edit a message',
  description: 'Allowed for its author. The previous text is kept as a revision.',
  access: 'session',
  example: { content: 'It runs well.' },
  status: 204,
  run: changes.edit,
})

export const remove = route({
  method: 'POST',
  path: '/api/messages/{message_id}/delete',
  tag: 'Threads and messages',
  summary: 'Delete a message; its replies stay',
  description:
    'Allowed for its author, unless now a viewer, and for owners and admins of the conversation. It stays in the tree without its text and can be restored; users who may restore it see the reason as `delete_reason`.',
  access: 'session',
  example: { reason: 'Posted twice' },
  body_optional: true,
  status: 204,
  run: changes.remove,
})

export const restore = route({
  method: 'POST',
  path: '/api/messages/{message_id}/restore',
  tag: 'Threads and messages',
  summary: 'Restore a deleted message',
  description:
    'Allowed for the user who deleted it, and for owners and admins of the conversation. A text erased with its author cannot be restored (`conflict`).',
  access: 'session',
  status: 204,
  run: changes.restore,
})
