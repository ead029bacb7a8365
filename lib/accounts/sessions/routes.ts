import { route } from '../../endpoint.ts'
import * as confirmation from './confirmation.ts'
import * as own from './own.ts'
import { LoginAnswer, MeAnswer, OwnSessions } from './schema.ts'
import * as service from './service.ts'

export const login = route({
  method: 'POST',
  path: '/api/auth/login',
  tag: 'Authentication',
  summary: 'Sign in',
  description:
    'Sets the cookie of a new session and that of its CSRF token. A session beyond `session.max_sessions_per_user` ends the oldest one; after many failures the account has to wait (`rate_limited`).',
  access: 'public',
  sign_in: true,
  answer: 'session',
  limited_as: 'sign_in',
  example: { email: 'ada@example.org', password: 'correct horse battery' },
  output: LoginAnswer,
  run: service.login,
})

export const refresh = route({
  method: 'POST',
  path: '/api/auth/refresh',
  tag: 'Authentication',
  summary: 'Rotate the tokens of the session',
  description:
    'Gives the session new tokens and a new idle deadline. The old tokens are worthless at once; open streams stay.',
  access: 'session',
  sign_in: true,
  answer: 'session',
  output: LoginAnswer,
  run: service.refresh,
})

export const logout = route({
  method: 'POST',
  path: '/api/auth/logout',
  tag: 'Authentication',
  summary: 'End the session',
  description: 'Ends the session with its streams, and clears both cookies.',
  access: 'session',
  sign_in: true,
  answer: 'session',
  status: 204,
  run: service.logout,
})

export const me = route({
  method: 'GET',
  path: '/api/auth/me',
  tag: 'Authentication',
  summary: 'Who is signed in',
  description: 'The session is left out where an API key calls, or where the host of the service decides who calls.',
  access: 'session',
  output: MeAnswer,
  run: service.me,
})

export const confirm = route({
  method: 'POST',
  path: '/api/auth/confirm',
  tag: 'Authentication',
  summary: 'Confirm the password for what outlives the session',
  description:
    'Making an API key and linking a provider ask for a sign-in of the last ten minutes, or for this call in the same session (`confirmation_required`). A user without a password signs in again through the provider instead (`conflict`).',
  access: 'session',
  sign_in: true,
  limited_as: 'sign_in',
  example: { password: 'correct horse battery' },
  status: 204,
  run: confirmation.confirm,
})

export const listSessions = route({
  method: 'GET',
  path: '/api/auth/sessions',
  tag: 'Authentication',
  summary: 'List your sessions, the one used last first',
  description:
    'The sessions that are neither expired nor ended, with where each was last used from, and which one makes this call. Goes on with `after`.',
  access: 'session',
  sign_in: true,
  output: OwnSessions,
  run: own.listSessions,
})

export const revokeSession = route({
  method: 'DELETE',
  path: '/api/auth/sessions/{session_id}',
  tag: 'Authentication',
  summary: 'End a session of yours',
  description: 'Its streams end, too. Also takes the session of the call itself, whose cookies it leaves alone.',
  access: 'session',
  sign_in: true,
  status: 204,
  run: own.revokeSession,
})
