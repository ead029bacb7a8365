import { route } from '../http/route.ts'
import { Credentials, LoginResponse, MeResponse } from './schema.ts'

export const login = route({
  method: 'POST',
  path: '/api/auth/login',
  tag: 'Authentication',
  summary: 'Sign in',
  access: 'public',
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
