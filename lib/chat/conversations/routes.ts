import { route } from '../../endpoint.ts'
import {
  AddedParticipant,
  ChangedParticipant,
  Conversation,
  ConversationInput,
  ConversationPage,
  ConversationsQuery,
  CreatedConversation,
  ParticipantInput,
  ParticipantPage,
  ParticipantsQuery,
  Rename,
  RoleChange,
} from './schema.ts'

export const createConversation = route({
  method: 'POST',
  path: '/api/conversations',
  tag: 'Conversations',
  summary: 'Open a conversation',
  description: 'The caller becomes its owner. With `is_group: false` it takes two people at most.',
  access: 'session',
  body: ConversationInput,
  example: { title: 'Engines' },
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
  description: 'With the first 200 who take part, their roles, and whether they are there.',
  access: 'session',
  output: Conversation,
  errors: ['not_found'],
  handler: ({ chat, actor, params }) => chat.conversations.get(actor, params.conversation_id),
})

export const listParticipants = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/participants',
  tag: 'Conversations',
  summary: 'List the participants in the order they joined',
  description: 'All of them, with their roles, and whether they are there. Goes on with `after`.',
  access: 'session',
  query: ParticipantsQuery,
  output: ParticipantPage,
  errors: ['not_found', 'invalid_cursor'],
  handler: ({ chat, actor, params, query }) =>
    chat.conversations.listParticipants(actor, params.conversation_id, query),
})

export const addParticipant = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/participants',
  tag: 'Conversations',
  summary: 'Add a participant',
  description:
    'Names the user by id, username or e-mail address, and needs the role owner or admin. An address that no user has proven to be theirs makes an invite, to be passed on by the caller.',
  access: 'session',
  body: ParticipantInput,
  example: { username: 'grace' },
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
  description:
    'Needs the role owner or admin, but for oneself. Their streams of it end, and what they wrote stays. The last owner cannot leave.',
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
  description: 'Those the caller takes part in, with how much is unread in each. Goes on with `after`.',
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
  description: 'For its owners. Everybody hears of it as `conversation.updated`.',
  access: 'session',
  body: Rename,
  example: { title: 'Difference engines' },
  output: Conversation,
  errors: ['not_found', 'forbidden'],
  handler: ({ chat, actor, params, body }) => chat.conversations.rename(actor, params.conversation_id, body),
})

export const deleteConversation = route({
  method: 'DELETE',
  path: '/api/conversations/{conversation_id}',
  tag: 'Conversations',
  summary: 'Delete a conversation with everything in it',
  description: 'For its owners. Everything in it is gone, and its streams end. It cannot be undone.',
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
  description:
    'Needs the role owner or admin; only an owner makes or changes owners. The last owner cannot take another role.',
  access: 'session',
  body: RoleChange,
  example: { role: 'admin' },
  output: ChangedParticipant,
  errors: ['not_found', 'forbidden', 'last_owner'],
  handler: ({ chat, actor, params, body }) =>
    chat.conversations.changeRole(actor, params.conversation_id, params.user_id, body),
})
