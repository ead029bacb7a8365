import { People, PersonAnswer } from '../../accounts/users/schema.ts'
import { route } from '../../endpoint.ts'
import * as service from './service.ts'

export const search = route({
  method: 'GET',
  path: '/api/users',
  tag: 'Users',
  summary: 'Find users by their names, or get users by their ids',
  description:
    'With `query`, users to add to a conversation: the user with this very username comes first, then users of shared conversations, then others, by username; with `for=direct` only those with whom a direct conversation would open. With `ids`, those of these users whom the caller may see, in this order. Returns no email addresses.',
  access: 'session',
  output: People,
  run: service.search,
})

export const get = route({
  method: 'GET',
  path: '/api/users/{user_id}',
  tag: 'Users',
  summary: 'Get a user',
  description:
    'The caller, a part of the host, or a user who takes part, or did, in a conversation of the caller; for administrators all users.',
  access: 'session',
  output: PersonAnswer,
  run: service.get,
})
