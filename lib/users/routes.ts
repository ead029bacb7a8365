import * as v from 'valibot'
import { route } from '../http/route.ts'
import { Account, AccountPage, NewUser, People, PeopleQuery, UsersQuery } from './schema.ts'

export const listUsers = route({
  method: 'GET',
  path: '/api/admin/users',
  tag: 'Administration',
  summary: 'List users, oldest first',
  access: 'admin',
  query: UsersQuery,
  output: AccountPage,
  handler: ({ chat, actor, query }) => chat.users.list(actor, query),
})

export const createUser = route({
  method: 'POST',
  path: '/api/admin/users',
  tag: 'Administration',
  summary: 'Create a user',
  access: 'admin',
  body: NewUser,
  status: 201,
  output: v.object({ user: Account }),
  errors: ['email_taken', 'username_taken'],
  handler: ({ chat, actor, body }) => chat.users.create(actor, body),
})

export const searchUsers = route({
  method: 'GET',
  path: '/api/users',
  tag: 'Users',
  summary: 'Find people by the beginning of their username',
  access: 'session',
  query: PeopleQuery,
  output: People,
  handler: ({ chat, actor, query }) => chat.users.search(actor, query),
})
