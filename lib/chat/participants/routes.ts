import { route } from '../../endpoint.ts'
import { AddedParticipant, ChangedParticipant, ParticipantPage } from '../conversations/schema.ts'
import * as service from './service.ts'
import * as ofClient from './service-client.ts'

export const list = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/participants',
  tag: 'Conversations',
  summary: 'List the participants in the order they joined',
  description: 'All participants with their roles and their presence. Continue with `after`.',
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
    'Takes a user id, username or email address, from a system actor also a `subject`; requires the role owner or admin. An email address that no user has verified creates an invite instead, which the caller delivers, or with `mail: true` the service. An API key adds no owners.',
  access: 'session',
  example: { username: 'grace' },
  status: 201,
  output: AddedParticipant,
  run: ofClient.addByClient,
})

export const remove = route({
  method: 'DELETE',
  path: '/api/conversations/{conversation_id}/participants/{user_id}',
  tag: 'Conversations',
  summary: 'Remove a participant, or leave',
  description:
    'Requires the role owner or admin, except to remove oneself. Their streams of the conversation end; their messages stay. The last owner cannot leave. An API key removes no owners.',
  access: 'session',
  status: 204,
  run: service.remove,
})

export const changeRole = route({
  method: 'PATCH',
  path: '/api/conversations/{conversation_id}/participants/{user_id}',
  tag: 'Conversations',
  summary: 'Change the role of a participant',
  description:
    'Requires the role owner or admin; only an owner can appoint or change owners, and no API key can. The last owner cannot change role.',
  access: 'session',
  example: { role: 'admin' },
  output: ChangedParticipant,
  run: service.changeRole,
})
