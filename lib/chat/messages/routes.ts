import { route } from '../../endpoint.ts'
import * as changes from './changes.ts'
import { IdempotencyHeader, Message, MessageInput, PostedMessage, Revisions } from './schema.ts'
import * as service from './service.ts'

export const postRoot = route({
  method: 'POST',
  path: '/api/threads/{conversation_id}/root',
  tag: 'Threads and messages',
  summary: 'Start a thread',
  description:
    'The role `assistant` has the assistant write the message: `content` is then what it is asked, and the answer streams into the message.',
  access: 'session',
  headers: IdempotencyHeader,
  body: MessageInput,
  example: { content: 'Does it run?' },
  status: 201,
  output: PostedMessage,
  errors: ['not_found', 'forbidden', 'idempotency_mismatch'],
  handler: ({ chat, actor, params, body, headers }) =>
    chat.messages.postRoot(actor, params.conversation_id, {
      ...body,
      idempotency_key: headers.get('idempotency-key') ?? undefined,
    }),
})

export const reply = route({
  method: 'POST',
  path: '/api/messages/{parent_id}/reply',
  tag: 'Threads and messages',
  summary: 'Reply to a message',
  description: 'Replies nest down to `limits.max_depth`. The role `assistant` has the assistant write the reply.',
  access: 'session',
  headers: IdempotencyHeader,
  body: MessageInput,
  example: { content: 'It runs.' },
  status: 201,
  output: PostedMessage,
  errors: ['not_found', 'forbidden', 'message_deleted', 'thread_too_deep', 'idempotency_mismatch'],
  handler: ({ chat, actor, params, body, headers }) =>
    chat.messages.reply(actor, params.parent_id, {
      ...body,
      idempotency_key: headers.get('idempotency-key') ?? undefined,
    }),
})

export const get = route({
  method: 'GET',
  path: '/api/messages/{message_id}',
  tag: 'Threads and messages',
  summary: 'Read a message',
  description: 'As it is now. Of a deleted one the text is not shown.',
  access: 'session',
  output: Message,
  run: service.get,
})

export const listRevisions = route({
  method: 'GET',
  path: '/api/messages/{message_id}/revisions',
  tag: 'Threads and messages',
  summary: 'What a message said before, oldest first',
  description:
    'The last `limits.revisions_per_message` (100) of them are kept. Empty for a message that was never edited, and for a deleted one. Goes on with `after`.',
  access: 'session',
  output: Revisions,
  run: service.listRevisions,
})

export const edit = route({
  method: 'POST',
  path: '/api/messages/{message_id}/edit',
  tag: 'Threads and messages',
  summary: 'Replace the content of a message',
  description: 'For its author. What it said before stays in the revisions.',
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
    'For its author, unless a viewer by now, and the owners and admins of the conversation. It stays in the tree without its text, and can be restored; the reason is shown as `delete_reason` to those who may.',
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
  summary: 'Bring a deleted message back',
  description:
    'For whoever deleted it, and the owners and admins of the conversation. A text that was erased with its author does not come back (`conflict`).',
  access: 'session',
  status: 204,
  run: changes.restore,
})
