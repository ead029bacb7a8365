import { route } from '../http/route.ts'
import { Credentials, LoginResponse, MeResponse, OwnSessions, PasswordChange, ProfileChange } from './schema.ts'

export const login = route({
  method: 'POST',
  path: '/api/auth/login',
  tag: 'Authentication',
  summary: 'Sign in',
  access: 'public',
  sign_in: true,
  answer: 'session',
  limited_as: 'sign_in',
  body: Credentials,
  output: LoginResponse,
  errors: ['invalid_credentials', 'account_disabled'],
  handler: ({ chat, client, body }) => chat.auth.login(client, body),
})

export const refresh = route({
  method: 'POST',
  path: '/api/auth/refresh',
  tag: 'Authentication',
  summary: 'Rotate the tokens of the session',
  access: 'session',
  sign_in: true,
  answer: 'session',
  output: LoginResponse,
  handler: ({ chat, actor, client }) => chat.auth.refresh(actor, client),
})

export const logout = route({
  method: 'POST',
  path: '/api/auth/logout',
  tag: 'Authentication',
  summary: 'End the session',
  access: 'session',
  sign_in: true,
  answer: 'session',
  status: 204,
  handler: ({ chat, actor }) => chat.auth.logout(actor),
})

export const readMe = route({
  method: 'GET',
  path: '/api/auth/me',
  tag: 'Authentication',
  summary: 'Who is signed in',
  access: 'session',
  output: MeResponse,
  handler: ({ chat, actor }) => chat.auth.me(actor),
})

export const changeMe = route({
  method: 'PATCH',
  path: '/api/auth/me',
  tag: 'Authentication',
  summary: 'Change what others see of you',
  access: 'session',
  body: ProfileChange,
  output: MeResponse,
  errors: ['forbidden', 'username_taken'],
  handler: ({ chat, actor, body }) => chat.auth.changeProfile(actor, body),
})

export const changePassword = route({
  method: 'POST',
  path: '/api/auth/password',
  tag: 'Authentication',
  summary: 'Change the password; your other sessions end',
  access: 'session',
  sign_in: true,
  body: PasswordChange,
  status: 204,
  errors: ['invalid_credentials'],
  handler: ({ chat, actor, body }) => chat.auth.changePassword(actor, body),
})

export const listSessions = route({
  method: 'GET',
  path: '/api/auth/sessions',
  tag: 'Authentication',
  summary: 'List your sessions, the one used last first',
  access: 'session',
  sign_in: true,
  output: OwnSessions,
  handler: ({ chat, actor }) => chat.auth.listSessions(actor),
})

export const revokeSession = route({
  method: 'DELETE',
  path: '/api/auth/sessions/{session_id}',
  tag: 'Authentication',
  summary: 'End a session of yours',
  access: 'session',
  sign_in: true,
  status: 204,
  errors: ['not_found'],
  handler: ({ chat, actor, params }) => chat.auth.revokeSession(actor, params.session_id),
})
