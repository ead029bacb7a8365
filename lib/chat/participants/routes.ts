import { route } from '../../endpoint.ts'
import { AddedParticipant, ChangedParticipant, ParticipantPage } from '../conversations/schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/participants',
  tag: 'Conversations',
  summary: 'List the participants in the order they joined',
  description: 'All of them, with their roles, and whether they are there. Goes on with `after`.',
  access: 'session',
  output: ParticipantPage,
  run: service.list,
})

export const add = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/participants',
  tag: 'Conversations',
  summary: 'Add a participant',
  description:
    'Names the user by id, username or e-mail address, and needs the role owner or admin. An address that no user has proven to be theirs makes an invite, to be passed on by the caller.',
  access: 'session',
  example: { username: 'grace' },
  status: 201,
  output: AddedParticipant,
  run: service.add,
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
  run: service.remove,
})

export const changeRole = route({
  method: 'PATCH',
  path: '/api/conversations/{conversation_id}/participants/{user_id}',
  tag: 'Conversations',
  summary: 'Give a participant another role',
  description:
    'Needs the role owner or admin; only an owner makes or changes owners. The last owner cannot take another role.',
  access: 'session',
  example: { role: 'admin' },
  output: ChangedParticipant,
  run: service.changeRole,
})
