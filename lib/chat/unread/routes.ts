import { route } from '../../endpoint.ts'
import * as service from './service.ts'

export const markRead = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/read',
  tag: 'Conversations',
  summary: 'Mark the threads of a conversation, or everything in it, as read',
  description:
    'The first messages of all threads that arrived up to the message, or to the newest one; of a reply, up to the first message of its thread. With `all: true` all messages that arrived up to it. What arrived later stays unread. The notifications of what is read are read, too.',
  access: 'session',
  example: { all: true },
  body_optional: true,
  status: 204,
  run: service.markRead,
})

export const markAllRead = route({
  method: 'POST',
  path: '/api/conversations/read',
  tag: 'Conversations',
  summary: 'Mark everything in all conversations as read',
  description:
    "All messages in the caller's conversations that arrived by `up_to`, and their notifications, as `all: true` does in each conversation. What arrived later stays unread. The caller's own streams get one `unread.cleared`.",
  access: 'session',
  example: { up_to: '2026-11-20T10:00:00.123456Z' },
  body_optional: true,
  status: 204,
  run: service.markAllRead,
})

export const markUnread = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/unread',
  tag: 'Conversations',
  summary: 'Mark the threads of a conversation as unread from a message on',
  description:
    "The first messages of all threads that arrived with that message or later are unread again, except the caller's own and those from before the caller joined; a reply stands for the first message of its thread. Other users notice nothing.",
  access: 'session',
  example: { message_id: '01980a3c-9000-7a10-8b20-0c4f1d2e3a45' },
  status: 204,
  run: service.markUnread,
})
