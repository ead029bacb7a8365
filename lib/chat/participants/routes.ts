import { route } from '../../endpoint.ts'
import {
  AddedParticipant,
  ChangedParticipant,
  ParticipantInput,
  ParticipantPage,
  ParticipantsQuery,
  RoleChange,
} from '../conversations/schema.ts'

export const list = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/participants',
  tag: 'Conversations',
  summary: 'List the participants in the order they joined',
  description: 'All of them, with their roles, and whether they are there. Goes on with `after`.',
  access: 'session',
  query: ParticipantsQuery,
  output: ParticipantPage,
  errors: ['not_found', 'invalid_cursor'],
  handler: ({ chat, actor, params, query }) => chat.participants.list(actor, params.conversation_id, query),
})

export const add = route({
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
  handler: ({ chat, actor, params, body }) => chat.participants.add(actor, params.conversation_id, body),
})

export const remove = route({
  method: 'DELETE',
  path: '/api/conversations/{conversation_id}/participants/{user_id}',
  tag: 'Conversations',
  summary: 'Remove a participant, or leave',
  description:
    'Needs the role owner or admin, but for oneself. Their streams of it end, and what they wrote stays. The last owner cannot leave.',
  access: 'session',
  status: 204,
  errors: ['not_found', 'forbidden', 'last_owner'],
  handler: ({ chat, actor, params }) => chat.participants.remove(actor, params.conversation_id, params.user_id),
})

export const changeRole = route({
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
    chat.participants.changeRole(actor, params.conversation_id, params.user_id, body),
})
