import { route } from '../../endpoint.ts'
import { Accepted, CreatedInvite, InvitePreview, Invites } from './schema.ts'
import * as service from './service.ts'
import { preview as previewInvite } from './service-preview.ts'

export const create = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/invites',
  tag: 'Invites',
  summary: 'Create an invite; its token is shown once',
  description:
    'Requires the role owner or admin; the role of the invite is limited to what the caller may give, with an API key to `member` and `viewer`; such an invite ends with its key. With `email`, only the user with that address can accept. With `mail: true` the service mails the token there and does not return it, and a sign-up with it verifies the address; `conflict` without `email`, or if the service sends no mail.',
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
    'The invites that are neither used up, expired nor revoked, without their tokens, newest first. Requires the role owner or admin. Continue with `after`.',
  access: 'session',
  output: Invites,
  run: service.list,
})

export const accept = route({
  method: 'POST',
  path: '/api/invites/accept',
  tag: 'Invites',
  metrics: false,
  summary: 'Accept an invite, with a session or by signing up',
  description:
    'With a session, the caller becomes a participant. Without one, and for a guest who sends them, `email` and `password` create an account and sign it in; `claim: true` merges the guest of the cookie into it. A participant who accepts uses nothing up. An invite is revoked when its creator loses the right to give its role (`invite_revoked`). `invites.*` configures which invites allow a sign-up (`signup_disabled`).',
  access: 'optional',
  answer: 'session',
  limited_as: 'sign_in',
  signs_up: (body) => ['email', 'password'].some((name) => Object.hasOwn(Object(body), name)),
  example: { token: 'nCT4k3bQ0mM3gqW8cVhT5yRr2L9uXoZs1dEfGaHiJkU' },
  response_headers: { 'Set-Cookie': 'maybe', 'X-Session-Rotated': 'maybe' },
  output: Accepted,
  run: service.accept,
})

export const preview = route({
  method: 'POST',
  path: '/api/invites/preview',
  tag: 'Invites',
  metrics: false,
  summary: 'Show what an invite is for, before it is accepted',
  description:
    'For any caller with the token of an invite to a conversation or to the service: the title of the conversation, its number of participants, the user who invites, unless that is the operator, and whether a new user can sign up with it. Failures count as sign-ins.',
  access: 'public',
  changes: false,
  example: { token: 'nCT4k3bQ0mM3gqW8cVhT5yRr2L9uXoZs1dEfGaHiJkU' },
  output: InvitePreview,
  run: previewInvite,
})

export const revoke = route({
  method: 'POST',
  path: '/api/invites/{token}/revoke',
  tag: 'Invites',
  summary: 'Revoke an invite',
  description:
    '`token` is the token, or the id of the invite. Allowed for its creator and for owners and admins of the conversation. Revoking it again changes nothing.',
  access: 'session',
  status: 204,
  run: service.revoke,
})
