import { route } from '../http/route.ts'
import { Acceptance, Accepted, CreatedInvite, Invites, NewInvite } from './schema.ts'

export const createInvite = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/invites',
  tag: 'Invites',
  summary: 'Make an invite; its token is shown once',
  access: 'session',
  body: NewInvite,
  output: CreatedInvite,
  errors: ['not_found', 'forbidden'],
  handler: ({ chat, actor, params, body }) => chat.invites.create(actor, params.conversation_id, body),
})

export const listInvites = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/invites',
  tag: 'Invites',
  summary: 'List the invites that can still be accepted',
  access: 'session',
  output: Invites,
  errors: ['not_found', 'forbidden'],
  handler: ({ chat, actor, params }) => chat.invites.list(actor, params.conversation_id),
})

export const acceptInvite = route({
  method: 'POST',
  path: '/api/invites/accept',
  tag: 'Invites',
  summary: 'Accept an invite, with a session or by signing up',
  access: 'optional',
  answer: 'session',
  limited_as: 'sign_in',
  body: Acceptance,
  output: Accepted,
  errors: [
    'unauthenticated',
    'forbidden',
    'not_found',
    'invite_revoked',
    'invite_expired',
    'invite_used',
    'invite_email_mismatch',
    'email_taken',
    'username_taken',
    'conflict',
  ],
  handler: ({ chat, actor, client, body }) => chat.invites.accept(actor, client, body),
})

export const revokeInvite = route({
  method: 'POST',
  path: '/api/invites/{token}/revoke',
  tag: 'Invites',
  summary: 'Revoke an invite',
  access: 'session',
  status: 204,
  errors: ['not_found', 'forbidden'],
  handler: ({ chat, actor, params }) => chat.invites.revoke(actor, params.token),
})
