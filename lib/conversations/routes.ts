import { route } from '../http/route.ts'
import {
  AddedParticipant,
  ChangedParticipant,
  Conversation,
  ConversationPage,
  ConversationsQuery,
  CreatedConversation,
  NewConversation,
  NewParticipant,
  NewRole,
  Rename,
} from './schema.ts'

export const createConversation = route({
  method: 'POST',
  path: '/api/conversations',
  tag: 'Conversations',
  summary: 'Open a conversation',
  access: 'session',
  body: NewConversation,
  status: 201,
  output: CreatedConversation,
  errors: ['forbidden'],
  handler: ({ chat, actor, body }) => chat.conversations.create(actor, body),
})

export const readConversation = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}',
  tag: 'Conversations',
  summary: 'Read a conversation with its participants',
  access: 'session',
  output: Conversation,
  errors: ['not_found'],
  handler: ({ chat, actor, params }) => chat.conversations.get(actor, params.conversation_id),
})

export const addParticipant = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/participants',
  tag: 'Conversations',
  summary: 'Add a participant',
  access: 'session',
  body: NewParticipant,
  status: 201,
  output: AddedParticipant,
  errors: ['not_found', 'forbidden', 'already_participant', 'conflict'],
  handler: ({ chat, actor, params, body }) => chat.conversations.addParticipant(actor, params.conversation_id, body),
})

export const removeParticipant = route({
  method: 'DELETE',
  path: '/api/conversations/{conversation_id}/participants/{user_id}',
  tag: 'Conversations',
  summary: 'Remove a participant, or leave',
  access: 'session',
  status: 204,
  errors: ['not_found', 'forbidden', 'last_owner'],
  handler: ({ chat, actor, params }) =>
    chat.conversations.removeParticipant(actor, params.conversation_id, params.user_id),
})

export const listConversations = route({
  method: 'GET',
  path: '/api/conversations',
  tag: 'Conversations',
  summary: 'List your conversations, latest activity first',
  access: 'session',
  query: ConversationsQuery,
  output: ConversationPage,
  errors: ['invalid_cursor'],
  handler: ({ chat, actor, query }) => chat.conversations.list(actor, query),
})

export const renameConversation = route({
  method: 'PATCH',
  path: '/api/conversations/{conversation_id}',
  tag: 'Conversations',
  summary: 'Give a conversation another title',
  access: 'session',
  body: Rename,
  output: Conversation,
  errors: ['not_found', 'forbidden'],
  handler: ({ chat, actor, params, body }) => chat.conversations.rename(actor, params.conversation_id, body),
})

export const deleteConversation = route({
  method: 'DELETE',
  path: '/api/conversations/{conversation_id}',
  tag: 'Conversations',
  summary: 'Delete a conversation with everything in it',
  access: 'session',
  status: 204,
  errors: ['not_found', 'forbidden'],
  handler: ({ chat, actor, params }) => chat.conversations.remove(actor, params.conversation_id),
})

export const changeParticipantRole = route({
  method: 'PATCH',
  path: '/api/conversations/{conversation_id}/participants/{user_id}',
  tag: 'Conversations',
  summary: 'Give a participant another role',
  access: 'session',
  body: NewRole,
  output: ChangedParticipant,
  errors: ['not_found', 'forbidden', 'last_owner'],
  handler: ({ chat, actor, params, body }) =>
    chat.conversations.changeRole(actor, params.conversation_id, params.user_id, body),
})
