import { route } from '../../endpoint.ts'
import { InvitedNewcomer, NewcomerPage, SignUpAnswer } from './schema.ts'
import * as service from './service.ts'

export const signUp = route({
  method: 'POST',
  path: '/api/auth/sign-up',
  tag: 'Authentication',
  metrics: false,
  summary: 'Sign up with a mailed invite',
  description:
    'Creates the account that `chat-server user invite` has invited, and signs it in. The address is that of the invite, and verified. The token works once. `conversation_id` is the first conversation that the invite has led to.',
  access: 'public',
  sign_in: true,
  answer: 'session',
  limited_as: 'sign_in',
  example: {
    token: 'nCT4k3bQ0mM3gqW8cVhT5yRr2L9uXoZs1dEfGaHiJkU',
    username: 'grace',
    password: 'staple battery horse',
  },
  response_headers: { 'Set-Cookie': 'always', 'X-Session-Rotated': 'always' },
  output: SignUpAnswer,
  run: service.signUp,
})

export const list = route({
  method: 'GET',
  path: '/api/admin/invites',
  tag: 'Administration',
  summary: 'List the open invites of newcomers, oldest first',
  description: 'The invites to the service that are neither used nor expired, without their tokens.',
  access: 'admin',
  sign_in: true,
  output: NewcomerPage,
  run: service.list,
})

export const invite = route({
  method: 'POST',
  path: '/api/admin/invites',
  tag: 'Administration',
  summary: 'Invite a newcomer to the service',
  description:
    'Mails a link to sign up with, or returns it with `mail: false`: `token`, and `url` if the service knows its public address. It works once, for this address. An earlier invite to the address ends. The newcomer joins `conversation_ids`, in which the caller invites others. `conflict` if it is to be mailed and the service sends no mail.',
  access: 'admin',
  sign_in: true,
  example: { email: 'grace@example.org', roles: ['member'], mail: false },
  status: 201,
  output: InvitedNewcomer,
  run: service.invite,
})

export const revoke = route({
  method: 'DELETE',
  path: '/api/admin/invites/{invite_id}',
  tag: 'Administration',
  summary: 'Revoke the invite of a newcomer',
  description: 'Its link is invalid at once.',
  access: 'admin',
  sign_in: true,
  status: 204,
  run: service.revoke,
})
