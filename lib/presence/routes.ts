import { route } from '../http/route.ts'
import { Heartbeat } from './schema.ts'

export const sendHeartbeat = route({
  method: 'POST',
  path: '/api/presence/heartbeat',
  tag: 'Presence',
  summary: 'Say that you are there',
  access: 'session',
  body: Heartbeat,
  status: 204,
  handler: ({ chat, actor, body }) => chat.presence.heartbeat(actor, body),
})
