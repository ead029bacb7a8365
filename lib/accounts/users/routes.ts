import { route } from '../../endpoint.ts'
import { AccountAnswer, AccountPage } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/admin/users',
  tag: 'Administration',
  summary: 'List users, oldest first',
  description: 'With `query`, only users whose username or email address begins with it.',
  access: 'admin',
  output: AccountPage,
  run: service.list,
})

export const create = route({
  method: 'POST',
  path: '/api/admin/users',
  tag: 'Administration',
  summary: 'Create a user',
  description: 'Without a password the user cannot sign in until one is set, for example with a reset link.',
  access: 'admin',
  example: { username: 'grace', email: 'grace@example.org', password: 'correct horse battery' },
  status: 201,
  output: AccountAnswer,
  run: service.create,
})
