import { route } from '../../endpoint.ts'
import * as service from './service.ts'

export const sendVerification = route({
  method: 'POST',
  path: '/api/auth/me/verify-email',
  tag: 'Authentication',
  metrics: false,
  summary: 'Request a mail to verify your email address',
  description:
    'The mailed link is valid for a day. No mail is sent to a verified address. `conflict` if the service sends no mail. One address gets at most five mails at once, then one in five minutes (`rate_limited`).',
  access: 'session',
  sign_in: true,
  status: 204,
  run: service.sendVerification,
})

export const verify = route({
  method: 'POST',
  path: '/api/auth/verify-email',
  tag: 'Authentication',
  metrics: false,
  summary: 'Verify an email address with a mailed token',
  description: 'Needs no session and creates none. The token works once, for a day.',
  access: 'public',
  sign_in: true,
  limited_as: 'sign_in',
  example: { token: 'nCT4k3bQ0mM3gqW8cVhT5yRr2L9uXoZs1dEfGaHiJkU' },
  status: 204,
  run: service.verify,
})
