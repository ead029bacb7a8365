import { route } from '../../endpoint.ts'
import { OwnIdentities } from './schema.ts'
import * as own from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/auth/identities',
  tag: 'Authentication',
  metrics: false,
  summary: 'List the providers you can sign in through',
  description: 'The linked identities at sign-in providers, newest first; at most 50.',
  access: 'session',
  sign_in: true,
  output: OwnIdentities,
  run: own.list,
})

export const remove = route({
  method: 'DELETE',
  path: '/api/auth/identities/{identity_id}',
  tag: 'Authentication',
  metrics: false,
  summary: 'Unlink a provider from your account',
  description:
    'The identity no longer signs in; sessions stay. The only way into an account without a password cannot be removed (`conflict`): first link another provider, or set a password with a reset link.',
  access: 'session',
  sign_in: true,
  status: 204,
  run: own.remove,
})
