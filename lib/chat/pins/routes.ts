import { route } from '../../endpoint.ts'
import { PinPage } from './schema.ts'
import * as service from './service.ts'

export const add = route({
  method: 'PUT',
  path: '/api/messages/{message_id}/pin',
  tag: 'Threads and messages',
  summary: 'Pin a message in its conversation',
  description:
    'Allowed for participants who may post. If it is pinned, nothing changes. A conversation has at most `limits.pins` (100) pinned messages (`conflict`).',
  access: 'session',
  status: 204,
  run: service.add,
})

export const remove = route({
  method: 'DELETE',
  path: '/api/messages/{message_id}/pin',
  tag: 'Threads and messages',
  summary: 'Unpin a message',
  description: 'Allowed for participants who may post. If it is not pinned, nothing changes.',
  access: 'session',
  status: 204,
  run: service.remove,
})

export const list = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/pins',
  tag: 'Threads and messages',
  summary: 'List the pinned messages of a conversation, latest first',
  description:
    'Deleted messages are left out; a restored one is there again. A page ends early if messages are long. Continue with `after`.',
  access: 'session',
  output: PinPage,
  run: service.list,
})
