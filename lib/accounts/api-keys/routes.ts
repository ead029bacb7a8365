import { route } from '../../endpoint.ts'
import { ApiKeys, CreatedKey } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/auth/keys',
  tag: 'Authentication',
  metrics: false,
  summary: 'List your API keys',
  description: 'Each key without its secret, and when it was last used, to the minute.',
  access: 'session',
  sign_in: true,
  output: ApiKeys,
  run: service.list,
})

export const create = route({
  method: 'POST',
  path: '/api/auth/keys',
  tag: 'Authentication',
  metrics: false,
  summary: 'Create an API key that acts as you',
  description:
    'The key is shown only once. It acts as the user on every call except those about sessions, keys and the password. A user has at most 50 keys. Requires a sign-in within the last ten minutes, or `POST /api/auth/confirm` (`confirmation_required`).',
  access: 'session',
  sign_in: true,
  example: { name: 'Nightly report' },
  status: 201,
  output: CreatedKey,
  run: service.create,
})

export const revoke = route({
  method: 'DELETE',
  path: '/api/auth/keys/{key_id}',
  tag: 'Authentication',
  metrics: false,
  summary: 'Revoke one of your API keys',
  description: 'The key is refused from the next call on, and its streams end.',
  access: 'session',
  sign_in: true,
  status: 204,
  run: service.revoke,
})
