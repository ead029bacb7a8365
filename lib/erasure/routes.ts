import { Erasure, Subject } from '../accounts/users/schema.ts'
import { route } from '../endpoint.ts'
import * as service from './service.ts'

export const erase = route({
  method: 'DELETE',
  path: '/api/admin/users/{user_id}',
  tag: 'Administration',
  summary: 'Erase a user, with or without their messages',
  description:
    'Removes the account with its sessions, keys and identities. Messages stay without an author, or lose their text with `messages=erase`. It cannot be undone. The last active administrator cannot be erased (`conflict`).',
  access: 'admin',
  status: 204,
  run: service.erase,
})

export const eraseBySubject = route({
  method: 'DELETE',
  path: '/api/admin/users/by-subject/{subject}',
  params: { subject: Subject },
  tag: 'Administration',
  summary: 'Erase the user of a person of your application',
  description:
    'As by id. Also with a server key with the scope `users`, which erases no administrators (403). Not with an API key.',
  access: 'admin',
  server_key: 'users',
  query: Erasure,
  status: 204,
  errors: service.erase.errors,
  handler: ({ chat, actor, params, query }) => chat.users.erase(actor, { subject: params.subject }, query),
})
