import { route } from '../http/route.ts'
import { Deletion, Edit, IdempotencyHeader, Message, NewMessage, PostedMessage, Revisions } from './schema.ts'

export const postRoot = route({
  method: 'POST',
  path: '/api/threads/{conversation_id}/root',
  tag: 'Threads and messages',
  summary: 'Start a thread',
  access: 'session',
  headers: IdempotencyHeader,
  body: NewMessage,
  status: 201,
  output: PostedMessage,
  errors: ['not_found', 'forbidden', 'idempotency_mismatch'],
  handler: ({ chat, actor, params, body, headers }) =>
    chat.messages.postRoot(actor, params.conversation_id, {
      ...body,
      idempotency_key: headers.get('idempotency-key') ?? undefined,
    }),
})

export const replyToMessage = route({
  method: 'POST',
  path: '/api/messages/{parent_id}/reply',
  tag: 'Threads and messages',
  summary: 'Reply to a message',
  access: 'session',
  headers: IdempotencyHeader,
  body: NewMessage,
  status: 201,
  output: PostedMessage,
  errors: ['not_found', 'forbidden', 'message_deleted', 'thread_too_deep', 'idempotency_mismatch'],
  handler: ({ chat, actor, params, body, headers }) =>
    chat.messages.reply(actor, params.parent_id, {
      ...body,
      idempotency_key: headers.get('idempotency-key') ?? undefined,
    }),
})

export const readMessage = route({
  method: 'GET',
  path: '/api/messages/{message_id}',
  tag: 'Threads and messages',
  summary: 'Read a message',
  access: 'session',
  output: Message,
  errors: ['not_found'],
  handler: ({ chat, actor, params }) => chat.messages.get(actor, params.message_id),
})

export const listRevisions = route({
  method: 'GET',
  path: '/api/messages/{message_id}/revisions',
  tag: 'Threads and messages',
  summary: 'What a message said before, oldest first',
  access: 'session',
  output: Revisions,
  errors: ['not_found'],
  handler: ({ chat, actor, params }) => chat.messages.revisions(actor, params.message_id),
})

export const editMessage = route({
  method: 'POST',
  path: '/api/messages/{message_id}/edit',
  tag: 'Threads and messages',
  summary: 'Replace the content of a message',
  access: 'session',
  body: Edit,
  status: 204,
  errors: ['not_found', 'forbidden', 'message_deleted', 'message_streaming'],
  handler: ({ chat, actor, params, body }) => chat.messages.edit(actor, params.message_id, body),
})

export const deleteMessage = route({
  method: 'POST',
  path: '/api/messages/{message_id}/delete',
  tag: 'Threads and messages',
  summary: 'Delete a message; its replies stay',
  access: 'session',
  body: Deletion,
  body_optional: true,
  status: 204,
  errors: ['not_found', 'forbidden', 'message_deleted'],
  handler: ({ chat, actor, params, body }) => chat.messages.remove(actor, params.message_id, body),
})

export const restoreMessage = route({
  method: 'POST',
  path: '/api/messages/{message_id}/restore',
  tag: 'Threads and messages',
  summary: 'Bring a deleted message back',
  access: 'session',
  status: 204,
  errors: ['not_found', 'forbidden', 'message_not_deleted', 'conflict'],
  handler: ({ chat, actor, params }) => chat.messages.restore(actor, params.message_id),
})
