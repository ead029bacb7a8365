import { route } from '../../endpoint.ts'
import {
  Confirmation,
  Credentials,
  LoginAnswer,
  MeAnswer,
  OwnSessions,
  OwnSessionsQuery,
  PasswordChange,
  ProfileChange,
} from './schema.ts'

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
  body: Credentials,
  example: { email: 'ada@example.org', password: 'correct horse battery' },
  output: LoginAnswer,
  errors: ['invalid_credentials', 'account_disabled'],
  handler: ({ chat, client, body }) => chat.auth.login(client, body),
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
  handler: ({ chat, actor, client }) => chat.auth.refresh(actor, client),
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
  handler: ({ chat, actor }) => chat.auth.logout(actor),
})

export const me = route({
  method: 'GET',
  path: '/api/auth/me',
  tag: 'Authentication',
  summary: 'Who is signed in',
  description: 'The session is left out where an API key calls, or where the host of the service decides who calls.',
  access: 'session',
  output: MeAnswer,
  handler: ({ chat, actor }) => chat.auth.me(actor),
})

export const changeProfile = route({
  method: 'PATCH',
  path: '/api/auth/me',
  tag: 'Authentication',
  summary: 'Change what others see of you',
  description: 'What is left out stays. Others see the new names at once, also on what was written before.',
  access: 'session',
  body: ProfileChange,
  example: { display_name: 'Ada Lovelace' },
  output: MeAnswer,
  errors: ['forbidden', 'username_taken'],
  handler: ({ chat, actor, body }) => chat.auth.changeProfile(actor, body),
})

export const changePassword = route({
  method: 'POST',
  path: '/api/auth/password',
  tag: 'Authentication',
  summary: 'Change the password; your other sessions end',
  description:
    'Every other session of the user ends, and so do pending reset links; API keys stay. Counts as a sign-in of its address; a user may try five times a minute.',
  access: 'session',
  sign_in: true,
  limited_as: 'sign_in',
  body: PasswordChange,
  example: { current_password: 'correct horse battery', new_password: 'staple battery horse' },
  status: 204,
  errors: ['invalid_credentials'],
  handler: ({ chat, actor, body }) => chat.auth.changePassword(actor, body),
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
  body: Confirmation,
  example: { password: 'correct horse battery' },
  status: 204,
  errors: ['invalid_credentials', 'conflict'],
  handler: ({ chat, actor, body }) => chat.auth.confirm(actor, body),
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
  query: OwnSessionsQuery,
  output: OwnSessions,
  errors: ['invalid_cursor'],
  handler: ({ chat, actor, query }) => chat.auth.listSessions(actor, query),
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
  errors: ['not_found'],
  handler: ({ chat, actor, params }) => chat.auth.revokeSession(actor, params.session_id),
})
