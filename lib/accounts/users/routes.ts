import { route } from '../../endpoint.ts'
import {
  AccountAnswer,
  AccountChanges,
  AccountPage,
  Erasure,
  Lockdown,
  People,
  PeopleQuery,
  UserInput,
  UsersQuery,
} from './schema.ts'

export const list = route({
  method: 'GET',
  path: '/api/admin/users',
  tag: 'Administration',
  summary: 'List users, oldest first',
  description: 'With `query`, only those whose username or e-mail address begins with it.',
  access: 'admin',
  query: UsersQuery,
  output: AccountPage,
  handler: ({ chat, actor, query }) => chat.users.list(actor, query),
})

export const create = route({
  method: 'POST',
  path: '/api/admin/users',
  tag: 'Administration',
  summary: 'Create a user',
  description: 'Without a password the user cannot sign in until one is set, by a reset link for example.',
  access: 'admin',
  body: UserInput,
  example: { username: 'grace', email: 'grace@example.org', password: 'correct horse battery' },
  status: 201,
  output: AccountAnswer,
  errors: ['email_taken', 'username_taken'],
  handler: ({ chat, actor, body }) => chat.users.create(actor, body),
})

export const change = route({
  method: 'PATCH',
  path: '/api/admin/users/{user_id}',
  tag: 'Administration',
  summary: 'Change the address, the roles, the state, the name or the password of a user',
  description:
    'What is left out stays. Disabling ends the sessions and streams of the user at once. Another address has yet to be proven, unless `email_verified` says otherwise. The last enabled administrator can be neither disabled nor stripped (`conflict`).',
  access: 'admin',
  body: AccountChanges,
  example: { roles: ['admin', 'member'] },
  output: AccountAnswer,
  errors: ['confirmation_required', 'not_found', 'conflict', 'email_taken'],
  handler: ({ chat, actor, params, body }) => chat.users.change(actor, params.user_id, body),
})

export const erase = route({
  method: 'DELETE',
  path: '/api/admin/users/{user_id}',
  tag: 'Administration',
  summary: 'Erase a person, with or without what they wrote',
  description:
    'Removes the account with its sessions, keys and identities. Messages stay without an author, or lose their text with `messages=erase`. It cannot be undone, and the last enabled administrator stays (`conflict`).',
  access: 'admin',
  query: Erasure,
  status: 204,
  errors: ['not_found', 'conflict'],
  handler: ({ chat, actor, params, query }) => chat.users.erase(actor, params.user_id, query),
})

export const lockDown = route({
  method: 'POST',
  path: '/api/admin/users/{user_id}/lockdown',
  tag: 'Administration',
  summary: 'End all access of a user that others may have got hold of',
  description:
    'Ends sessions with their streams, API keys, identities at providers, links to set a password, known browsers and the invites the user made, at once. The account and its password stay: change the password, or disable the account, as well where that is needed.',
  access: 'admin',
  output: Lockdown,
  errors: ['not_found'],
  handler: ({ chat, actor, params }) => chat.users.lockDown(actor, params.user_id),
})

export const search = route({
  method: 'GET',
  path: '/api/users',
  tag: 'Users',
  summary: 'Find people by the beginning of their username',
  description: 'For finding whom to add to a conversation. Shows names and no addresses.',
  access: 'session',
  query: PeopleQuery,
  output: People,
  handler: ({ chat, actor, query }) => chat.users.search(actor, query),
})
