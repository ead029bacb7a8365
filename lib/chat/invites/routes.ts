import { route } from '../../endpoint.ts'
import { Accepted, CreatedInvite, Invites } from './schema.ts'
import * as service from './service.ts'

export const create = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/invites',
  tag: 'Invites',
  summary: 'Make an invite; its token is shown once',
  description:
    'Needs the role owner or admin, and gives no more than the caller may. With `email` it is for the user with that address only.',
  access: 'session',
  example: { ttl_seconds: 3600, max_uses: 5 },
  output: CreatedInvite,
  run: service.create,
})

export const list = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/invites',
  tag: 'Invites',
  summary: 'List the invites that can still be accepted',
  description:
    'Those that are neither used up, expired nor revoked, without their tokens, latest first. Needs the role owner or admin. Goes on with `after`.',
  access: 'session',
  output: Invites,
  run: service.list,
})

export const accept = route({
  method: 'POST',
  path: '/api/invites/accept',
  tag: 'Invites',
  summary: 'Accept an invite, with a session or by signing up',
  description:
    'With a session, the caller takes part from now on. Without one, `username`, `email` and `password` make an account, which is signed in by the same call. Who takes part already uses nothing up. An invite ends with the right of its maker to give that role (`invite_revoked`). `invites.*` says which invites sign newcomers up (`signup_disabled`).',
  access: 'optional',
  answer: 'session',
  limited_as: 'sign_in',
  example: { token: 'nCT4k3bQ0mM3gqW8cVhT5yRr2L9uXoZs1dEfGaHiJkU' },
  output: Accepted,
  run: service.accept,
})

export const revoke = route({
  method: 'POST',
  path: '/api/invites/{token}/revoke',
  tag: 'Invites',
  summary: 'Revoke an invite',
  description: 'For its maker and the owners and admins of the conversation. Revoking it again changes nothing.',
  access: 'session',
  status: 204,
  run: service.revoke,
})
