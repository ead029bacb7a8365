import { route } from '../../endpoint.ts'
import { AccountAnswer, AccountPage, People } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/admin/users',
  tag: 'Administration',
  summary: 'List users, oldest first',
  description: 'With `query`, only those whose username or e-mail address begins with it.',
  access: 'admin',
  output: AccountPage,
  run: service.list,
})

export const create = route({
  method: 'POST',
  path: '/api/admin/users',
  tag: 'Administration',
  summary: 'Create a user',
  description: 'Without a password the user cannot sign in until one is set, by a reset link for example.',
  access: 'admin',
  example: { username: 'grace', email: 'grace@example.org', password: 'correct horse battery' },
  status: 201,
  output: AccountAnswer,
  run: service.create,
})

export const search = route({
  method: 'GET',
  path: '/api/users',
  tag: 'Users',
  summary: 'Find people by the beginning of their username',
  description: 'For finding whom to add to a conversation. Shows names and no addresses.',
  access: 'session',
  output: People,
  run: service.search,
})
