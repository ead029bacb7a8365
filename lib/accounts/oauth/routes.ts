import { route } from '../../endpoint.ts'
import { LoginAnswer } from '../sessions/schema.ts'
import { ManualCode, OauthBegin, OauthBegun, OauthReturn } from './schema.ts'

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
  query: OauthBegin,
  output: OauthBegun,
  errors: [
    'not_found',
    'unauthenticated',
    'forbidden',
    'confirmation_required',
    'setup_required',
    'oauth_provider_error',
  ],
  handler: ({ chat, actor, client, params, query }) => chat.oauth.begin(actor, client, params.provider, query),
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
  query: OauthReturn,
  output: LoginAnswer,
  errors: [
    'not_found',
    'oauth_state_invalid',
    'oauth_denied',
    'oauth_provider_error',
    'account_disabled',
    'signup_disabled',
    'email_taken',
    'username_taken',
    'conflict',
    'storage_full',
  ],
  handler: ({ chat, actor, client, params, query }) => chat.oauth.finish(actor, client, params.provider, query),
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
  body: ManualCode,
  example: { auth_code: 'SplxlOBeZQQYbYS6WxSbIA' },
  output: LoginAnswer,
  errors: [
    'not_found',
    'setup_required',
    'oauth_state_invalid',
    'oauth_provider_error',
    'account_disabled',
    'signup_disabled',
    'email_taken',
    'username_taken',
    'conflict',
  ],
  handler: ({ chat, actor, client, params, body }) => chat.oauth.exchangeCode(actor, client, params.provider, body),
})
