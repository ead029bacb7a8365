import { route } from '../../endpoint.ts'
import { LoginAnswer } from '../sessions/schema.ts'
import { OauthBegun } from './schema.ts'
import * as service from './service.ts'

export const begin = route({
  method: 'GET',
  path: '/api/oauth/{provider}',
  tag: 'Authentication',
  metrics: false,
  summary: 'Start a sign-in through a provider',
  description:
    'Returns the URL to send the browser to, and sets a short-lived cookie that binds the attempt to this browser. With `link=true` the identity is added to the signed-in account; this requires a sign-in within the last ten minutes, or `POST /api/auth/confirm`.',
  access: 'optional',
  sign_in: true,
  limited_as: 'sign_in',
  answer: 'binding',
  response_headers: { 'Set-Cookie': 'always' },
  output: OauthBegun,
  run: service.begin,
})

export const finish = route({
  method: 'GET',
  path: '/api/oauth/{provider}/callback',
  tag: 'Authentication',
  metrics: false,
  summary: 'Callback of a sign-in provider',
  description:
    'The provider redirects the browser here. With `Accept: application/json` the response is that of a sign-in; otherwise the browser is redirected to `redirect_to` of the attempt. An attempt can be completed once, within ten minutes, by the browser that started it.',
  access: 'optional',
  sign_in: true,
  limited_as: 'sign_in',
  answer: 'redirect',
  response_headers: { 'Set-Cookie': 'always', 'X-Session-Rotated': 'always' },
  output: LoginAnswer,
  run: service.finish,
})

export const exchangeCode = route({
  method: 'POST',
  path: '/api/oauth/{provider}/manual',
  tag: 'Authentication',
  metrics: false,
  summary: 'Sign in with a manually copied provider code',
  description:
    'For developers: takes a provider code copied by hand. 404 if `server.public_url` begins with `https://`, unless `oauth.manual_enabled = true`; always 404 with `false`.',
  access: 'optional',
  sign_in: true,
  limited_as: 'sign_in',
  answer: 'session',
  example: { auth_code: 'SplxlOBeZQQYbYS6WxSbIA' },
  response_headers: { 'Set-Cookie': 'always', 'X-Session-Rotated': 'always' },
  output: LoginAnswer,
  run: service.exchangeCode,
})
