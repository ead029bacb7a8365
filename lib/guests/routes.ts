import { route } from '../endpoint.ts'
import { Merged } from '../merging/schema.ts'
import { AdmittedGuest } from './schema.ts'
import * as service from './service.ts'

export const create = route({
  method: 'POST',
  path: '/api/guests',
  tag: 'Authentication',
  metrics: false,
  summary: 'Become a guest',
  description:
    'Creates a user without a sign-in, and sets the cookies of a session, or with `token: true` returns the token of one and sets none. 404 unless `guests.enabled`. Where `guests.contacts` are configured, `conversation_id` is a conversation with them. Pages of `server.cors.token_origins` may call it with `token: true`.',
  access: 'public',
  answer: 'session',
  is_cookieless: (body) => (body as { token?: unknown } | undefined)?.token === true,
  example: { display_name: 'Ada', token: true },
  status: 201,
  response_headers: { 'Set-Cookie': 'maybe', 'X-Session-Rotated': 'maybe' },
  output: AdmittedGuest,
  run: service.create,
})

export const claim = route({
  method: 'POST',
  path: '/api/guests/claim',
  tag: 'Authentication',
  metrics: false,
  summary: 'Take over what you have as a guest',
  description:
    'Merges the guest of the token into the caller: messages, reactions, conversations, files. The guest and its token end. Again within a day, the answer is the same. 409 for the own token and that of a person; 403 with an API key.',
  access: 'session',
  example: { token: 'cg_nCT4k3bQ0mM3gqW8cVhT5yRr2L9uXoZs1dEfGaHiJkU' },
  output: Merged,
  run: service.claim,
})
