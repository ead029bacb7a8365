import { route } from '../http/route.ts'
import { NewMessage, PostedMessage } from './schema.ts'

export const postRoot = route({
  method: 'POST',
  path: '/api/threads/{conversation_id}/root',
  tag: 'Threads and messages',
  summary: 'Start a thread',
  access: 'session',
  body: NewMessage,
  status: 201,
  output: PostedMessage,
  errors: ['not_found', 'forbidden'],
  handler: ({ chat, actor, params, body }) => chat.messages.postRoot(actor, params.conversation_id, body),
})

export const replyToMessage = route({
  method: 'POST',
  path: '/api/messages/{parent_id}/reply',
  tag: 'Threads and messages',
  summary: 'Reply to a message',
  access: 'session',
  body: NewMessage,
  status: 201,
  output: PostedMessage,
  errors: ['not_found', 'forbidden', 'message_deleted', 'thread_too_deep'],
  handler: ({ chat, actor, params, body }) => chat.messages.reply(actor, params.parent_id, body),
})
