import { route } from '../http/route.ts'
import { AddedParticipant, Conversation, CreatedConversation, NewConversation, NewParticipant } from './schema.ts'

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
