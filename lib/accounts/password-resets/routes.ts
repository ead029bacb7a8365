import { route } from '../../endpoint.ts'
import * as service from './service.ts'

export const request = route({
  method: 'POST',
  path: '/api/auth/forgot',
  tag: 'Authentication',
  summary: 'Have a link mailed that sets a new password',
  description: 'Answers the same, in the same time, whether or not there is such an account.',
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
  summary: 'Set a new password with a token that was mailed',
  description:
    'The token works once, for an hour. All sessions and, without `keep_keys`, all API keys of the user end; failed sign-ins are forgotten. Signs nobody in, but sets a cookie by which the browser is known: guesses of others do not lock the user out of it.',
  access: 'public',
  sign_in: true,
  answer: 'session',
  limited_as: 'sign_in',
  example: { token: 'nCT4k3bQ0mM3gqW8cVhT5yRr2L9uXoZs1dEfGaHiJkU', password: 'staple battery horse' },
  status: 204,
  run: service.redeem,
})
