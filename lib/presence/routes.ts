import { route } from '../http/route.ts'
import { Heartbeat, TypingRequest } from './schema.ts'

export const sendHeartbeat = route({
  method: 'POST',
  path: '/api/presence/heartbeat',
  tag: 'Presence',
  summary: 'Say that you are there',
  access: 'session',
  body: Heartbeat,
  body_optional: true,
  status: 204,
  handler: ({ chat, actor, body }) => chat.presence.heartbeat(actor, body),
})

export const setTyping = route({
  method: 'POST',
  path: '/api/typing',
  tag: 'Presence',
  summary: 'Say that you are typing, or that you have stopped',
  access: 'session',
  body: TypingRequest,
  status: 204,
  errors: ['not_found', 'forbidden'],
  handler: ({ chat, actor, body }) => chat.presence.type(actor, body),
})
