import { route } from '../../endpoint.ts'
import { KeysOfUsers } from './schema-admin.ts'
import * as service from './service-admin.ts'

export const listAll = route({
  method: 'GET',
  path: '/api/admin/keys',
  tag: 'Administration',
  summary: 'List the API keys of all users or of one, newest first',
  description: 'Each key without its secret, and when it was last used, to the minute. Not with an API key.',
  access: 'admin',
  sign_in: true,
  output: KeysOfUsers,
  run: service.listAll,
})

export const revokeAny = route({
  method: 'DELETE',
  path: '/api/admin/keys/{key_id}',
  tag: 'Administration',
  summary: 'Revoke an API key of any user',
  description:
    'The key is refused from the next call on, and its streams end. Repeatable: 204 as well if the key does not exist. Not with an API key.',
  access: 'admin',
  sign_in: true,
  status: 204,
  run: service.revokeAny,
})
