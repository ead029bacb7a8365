import { route } from '../../endpoint.ts'
import * as service from './service.ts'

export const request = route({
  method: 'POST',
  path: '/api/auth/forgot',
  tag: 'Authentication',
  metrics: false,
  summary: 'Request a mail to reset the password',
  description: 'The response and its time are the same whether or not the account exists.',
  access: 'public',
  sign_in: true,
  limited_as: 'sign_in',
  example: { email: 'ada@example.org' },
  status: 204,
  run: service.request,
})

export const redeem = route({
  method: 'POST',
  path: '/api/auth/reset',
  tag: 'Authentication',
  metrics: false,
  summary: 'Reset the password with a mailed token',
  description:
    'The token works once, for an hour. Ends all sessions and, without `keep_keys`, all API keys of the user, and mailed links that could take the account away again; resets failed sign-ins. If the address was not verified, it ends every other access. Does not sign in, but sets a cookie that marks the browser as known: guesses of others do not lock the user out of it.',
  access: 'public',
  sign_in: true,
  answer: 'session',
  limited_as: 'sign_in',
  example: { token: 'nCT4k3bQ0mM3gqW8cVhT5yRr2L9uXoZs1dEfGaHiJkU', password: 'staple battery horse' },
  status: 204,
  response_headers: { 'Set-Cookie': 'always' },
  run: service.redeem,
})
