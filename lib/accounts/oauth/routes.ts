import { route } from '../../endpoint.ts'
import { LoginAnswer } from '../sessions/schema.ts'
import { OauthBegun } from './schema.ts'
import * as service from './service.ts'

export const begin = route({
  method: 'GET',
  path: '/api/oauth/{provider}',
  tag: 'Authentication',
  summary: 'Begin to sign in through a provider',
  description:
    'Answers with the address to send the browser to, and sets a short-lived cookie that binds the attempt to this browser. With `link=true` the identity is added to the account that is signed in; that asks for a sign-in of the last ten minutes, or for `POST /api/auth/confirm`.',
  access: 'optional',
  sign_in: true,
  limited_as: 'sign_in',
  answer: 'binding',
  output: OauthBegun,
  run: service.begin,
})

export const finish = route({
  method: 'GET',
  path: '/api/oauth/{provider}/callback',
  tag: 'Authentication',
  summary: 'Return from a provider, signed in',
  description:
    'The provider sends the browser here. Who asks for JSON (`Accept: application/json`) gets the same answer as from a sign-in, a browser is sent on to where the attempt was to lead. An attempt can be finished once, within ten minutes, by the browser that began it.',
  access: 'optional',
  sign_in: true,
  limited_as: 'sign_in',
  answer: 'redirect',
  output: LoginAnswer,
  run: service.finish,
})

export const exchangeCode = route({
  method: 'POST',
  path: '/api/oauth/{provider}/manual',
  tag: 'Authentication',
  summary: 'Sign in with the code of a provider that was copied by hand',
  description:
    'For developers: takes the code that a provider gave, copied by hand. 404 where `server.public_url` begins with `https://`, unless `oauth.manual_enabled = true`; and with `false`.',
  access: 'optional',
  sign_in: true,
  limited_as: 'sign_in',
  answer: 'session',
  example: { auth_code: 'SplxlOBeZQQYbYS6WxSbIA' },
  output: LoginAnswer,
  run: service.exchangeCode,
})
