import { route } from '../../endpoint.ts'
import * as service from './service.ts'

export const sendHeartbeat = route({
  method: 'POST',
  path: '/api/presence/heartbeat',
  tag: 'Presence',
  summary: 'Say that you are there',
  description: 'Without another one within 60 seconds, and without an open stream, the user counts as offline.',
  access: 'session',
  example: { status: 'away' },
  body_optional: true,
  status: 204,
  run: service.sendHeartbeat,
})

export const setTyping = route({
  method: 'POST',
  path: '/api/typing',
  tag: 'Presence',
  summary: 'Say that you are typing, or that you have stopped',
  description:
    'The others hear of it as `typing.update`. It lapses after `seconds` unless it is said again; 0 says that it is over.',
  access: 'session',
  example: { conversation_id: '01980a3c-7000-7a10-8b20-0c4f1d2e3a43' },
  status: 204,
  run: service.setTyping,
})
