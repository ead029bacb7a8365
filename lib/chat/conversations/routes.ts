import { route } from '../../endpoint.ts'
import { Conversation, ConversationPage, CreatedConversation } from './schema.ts'
import * as service from './service.ts'

export const create = route({
  method: 'POST',
  path: '/api/conversations',
  tag: 'Conversations',
  summary: 'Open a conversation',
  description: 'The caller becomes its owner. With `is_group: false` it takes two people at most.',
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
  description: 'With the first 200 who take part, their roles, and whether they are there.',
  access: 'session',
  output: Conversation,
  run: service.get,
})

export const list = route({
  method: 'GET',
  path: '/api/conversations',
  tag: 'Conversations',
  summary: 'List your conversations, latest activity first',
  description: 'Those the caller takes part in, with how much is unread in each. Goes on with `after`.',
  access: 'session',
  output: ConversationPage,
  run: service.list,
})

export const rename = route({
  method: 'PATCH',
  path: '/api/conversations/{conversation_id}',
  tag: 'Conversations',
  summary: 'Give a conversation another title',
  description: 'For its owners. Everybody hears of it as `conversation.updated`.',
  access: 'session',
  example: { title: 'Difference engines' },
  output: Conversation,
  run: service.rename,
})

export const remove = route({
  method: 'DELETE',
  path: '/api/conversations/{conversation_id}',
  tag: 'Conversations',
  summary: 'Delete a conversation with everything in it',
  description: 'For its owners. Everything in it is gone, and its streams end. It cannot be undone.',
  access: 'session',
  status: 204,
  run: service.remove,
})
