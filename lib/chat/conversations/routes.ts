import { route } from '../../endpoint.ts'
import { Conversation, ConversationPage, CreatedConversation } from './schema.ts'
import * as service from './service.ts'

export const create = route({
  method: 'POST',
  path: '/api/conversations',
  tag: 'Conversations',
  summary: 'Create a conversation',
  description: 'The caller becomes its owner. With `is_group: false` it has at most two participants.',
  access: 'session',
  example: { title: 'Engines' },
  status: 201,
  output: CreatedConversation,
  run: service.create,
})

export const get = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}',
  tag: 'Conversations',
  summary: 'Read a conversation with its participants',
  description: 'With the first 200 participants, their roles and their presence.',
  access: 'session',
  response_headers: { 'Stream-Position': 'always' },
  output: Conversation,
  run: service.get,
})

export const list = route({
  method: 'GET',
  path: '/api/conversations',
  tag: 'Conversations',
  summary: 'List your conversations, latest activity first',
  description: 'The conversations in which the caller participates, with their unread counts. Continue with `after`.',
  access: 'session',
  output: ConversationPage,
  run: service.list,
})

export const rename = route({
  method: 'PATCH',
  path: '/api/conversations/{conversation_id}',
  tag: 'Conversations',
  summary: 'Change the title of a conversation',
  description: 'Allowed for owners. Participants get `conversation.updated`.',
  access: 'session',
  example: { title: 'Difference engines' },
  response_headers: { 'Stream-Position': 'always' },
  output: Conversation,
  run: service.rename,
})

export const remove = route({
  method: 'DELETE',
  path: '/api/conversations/{conversation_id}',
  tag: 'Conversations',
  summary: 'Delete a conversation with everything in it',
  description: 'Allowed for owners. Deletes everything in it and ends its streams. It cannot be undone.',
  access: 'session',
  status: 204,
  run: service.remove,
})
