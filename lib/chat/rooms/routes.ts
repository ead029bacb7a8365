import { route } from '../../endpoint.ts'
import { CreatedConversation } from '../conversations/schema.ts'
import { Directory } from './schema.ts'
import * as service from './service.ts'

export const directory = route({
  method: 'GET',
  path: '/api/conversations/directory',
  tag: 'Conversations',
  summary: 'List the conversations that all users see, by title',
  description: 'Those that are not private, with whether the caller participates. Continue with `after`.',
  access: 'session',
  output: Directory,
  run: service.directory,
})

export const join = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/join',
  tag: 'Conversations',
  summary: 'Join a conversation',
  description:
    'The caller becomes a `member` of a conversation that is not private and has the policy `join: anyone`. Joining again changes nothing. At most 30 an hour.',
  access: 'session',
  output: CreatedConversation,
  run: service.join,
})

export const leave = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/leave',
  tag: 'Conversations',
  summary: 'Leave a conversation',
  description: 'As removing oneself from its participants. The last owner cannot leave.',
  access: 'session',
  status: 204,
  run: service.leave,
})
