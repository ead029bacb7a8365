import { route } from '../../endpoint.ts'
import { Presences } from './schema.ts'
import * as service from './service.ts'

export const sendHeartbeat = route({
  method: 'POST',
  path: '/api/presence/heartbeat',
  tag: 'Presence',
  summary: 'Send a presence heartbeat',
  description: 'Without another heartbeat within 60 seconds, and without an open stream, the user is offline.',
  access: 'session',
  example: { status: 'away' },
  body_optional: true,
  status: 204,
  run: service.sendHeartbeat,
})

export const list = route({
  method: 'GET',
  path: '/api/presence',
  tag: 'Presence',
  summary: 'Read the presence of users',
  description:
    'Of those users who share a conversation with the caller, and of the caller; others are left out. For conversations whose `stream.ready` has `presence: false`.',
  access: 'session',
  output: Presences,
  run: service.list,
})

export const setTyping = route({
  method: 'POST',
  path: '/api/typing',
  tag: 'Presence',
  summary: 'Send a typing status',
  description: 'Other participants get `typing.update`. It expires after `seconds` unless sent again; 0 ends it.',
  access: 'session',
  example: { conversation_id: '01980a3c-7000-7a10-8b20-0c4f1d2e3a43' },
  status: 204,
  run: service.setTyping,
})
