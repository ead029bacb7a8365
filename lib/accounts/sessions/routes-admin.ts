import { route } from '../../endpoint.ts'
import { Revoked, SessionsOfUsers } from './schema-admin.ts'
import * as service from './service-admin.ts'

export const listSessions = route({
  method: 'GET',
  path: '/api/admin/users/{user_id}/sessions',
  tag: 'Administration',
  summary: 'List the sessions of a user, oldest first',
  description: 'The active sessions with the IP address and user agent of their last use.',
  access: 'admin',
  sign_in: true,
  output: SessionsOfUsers,
  run: service.listOfUser,
})

export const endSessions = route({
  method: 'DELETE',
  path: '/api/admin/users/{user_id}/sessions',
  tag: 'Administration',
  summary: 'End all sessions of a user',
  description:
    'Their streams end too, at once, and so do API keys, reset links, requested changes of the email address and links that undo one. Not with an API key.',
  access: 'admin',
  sign_in: true,
  output: Revoked,
  run: service.endOfUser,
})

export const endSession = route({
  method: 'DELETE',
  path: '/api/admin/users/{user_id}/sessions/{session_id}',
  tag: 'Administration',
  summary: 'End one session of a user',
  description: 'Its streams end too, at once. Not with an API key.',
  access: 'admin',
  sign_in: true,
  status: 204,
  run: service.endOne,
})
