import { route } from '../../endpoint.ts'
import * as service from './service.ts'

export const sendVerification = route({
  method: 'POST',
  path: '/api/auth/me/verify-email',
  tag: 'Authentication',
  summary: 'Have a link mailed that proves your e-mail address',
  description:
    'The link is valid for a day. A proven address is mailed nothing. It is `conflict` where the service sends no mail; one address is mailed five times at once, then every five minutes (`rate_limited`).',
  access: 'session',
  sign_in: true,
  status: 204,
  run: service.sendVerification,
})

export const verify = route({
  method: 'POST',
  path: '/api/auth/verify-email',
  tag: 'Authentication',
  summary: 'Prove an e-mail address with a token that was mailed',
  description: 'Needs no session, and signs nobody in. The token works once, for a day.',
  access: 'public',
  sign_in: true,
  limited_as: 'sign_in',
  example: { token: 'nCT4k3bQ0mM3gqW8cVhT5yRr2L9uXoZs1dEfGaHiJkU' },
  status: 204,
  run: service.verify,
})
