import { route } from '../../endpoint.ts'
import { LoginAnswer, MeAnswer, OwnSessions } from './schema.ts'
import * as service from './service.ts'
import * as confirmation from './service-confirmation.ts'
import * as own from './service-own.ts'

export const login = route({
  method: 'POST',
  path: '/api/auth/login',
  tag: 'Authentication',
  metrics: false,
  summary: 'Sign in',
  description:
    'Sets the cookies of a new session and of its CSRF token. A session beyond `session.max_sessions_per_user` ends the oldest one; too many failures lock the account for a while (`rate_limited`).',
  access: 'public',
  sign_in: true,
  answer: 'session',
  limited_as: 'sign_in',
  example: { email: 'ada@example.org', password: 'correct horse battery' },
  response_headers: { 'Set-Cookie': 'always', 'X-Session-Rotated': 'always' },
  output: LoginAnswer,
  run: service.login,
})

export const refresh = route({
  method: 'POST',
  path: '/api/auth/refresh',
  tag: 'Authentication',
  metrics: false,
  summary: 'Rotate the tokens of the session',
  description:
    'Gives the session new tokens and a new idle deadline. The old tokens are invalid at once; open streams stay.',
  access: 'session',
  sign_in: true,
  answer: 'session',
  response_headers: { 'Set-Cookie': 'always', 'X-Session-Rotated': 'always' },
  output: LoginAnswer,
  run: service.refresh,
})

export const logout = route({
  method: 'POST',
  path: '/api/auth/logout',
  tag: 'Authentication',
  metrics: false,
  summary: 'End the session',
  description: 'Ends the session with its streams, and clears both cookies.',
  access: 'session',
  sign_in: true,
  ends_tokens: true,
  answer: 'session',
  status: 204,
  response_headers: { 'Set-Cookie': 'always' },
  run: service.logout,
})

export const me = route({
  method: 'GET',
  path: '/api/auth/me',
  tag: 'Authentication',
  metrics: false,
  summary: 'Get the signed-in user',
  description: 'The session is missing with an API key, and with the authentication of a host application.',
  access: 'session',
  output: MeAnswer,
  run: service.me,
})

export const confirm = route({
  method: 'POST',
  path: '/api/auth/confirm',
  tag: 'Authentication',
  metrics: false,
  summary: 'Confirm the password before sensitive actions',
  description:
    'Creating an API key and linking a provider require a sign-in within the last ten minutes, or this call in the same session (`confirmation_required`). A user without a password signs in again through the provider instead (`conflict`).',
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
  metrics: false,
  summary: 'List your sessions, last used first',
  description:
    'The active sessions with the IP address and user agent of their last use; `current` marks the session of this call. Continue with `after`.',
  access: 'session',
  sign_in: true,
  output: OwnSessions,
  run: own.listSessions,
})

export const revokeSession = route({
  method: 'DELETE',
  path: '/api/auth/sessions/{session_id}',
  tag: 'Authentication',
  metrics: false,
  summary: 'End one of your sessions',
  description: 'Its streams end too. It may be the session of this call; its cookies are not cleared.',
  access: 'session',
  sign_in: true,
  status: 204,
  run: own.revokeSession,
})
