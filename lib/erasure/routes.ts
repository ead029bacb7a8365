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
