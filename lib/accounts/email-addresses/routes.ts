import { route } from '../../endpoint.ts'
import * as service from './service.ts'
import * as changes from './service-change.ts'

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

export const requestChange = route({
  method: 'POST',
  path: '/api/auth/me/email',
  tag: 'Authentication',
  metrics: false,
  summary: 'Request another email address',
  description:
    'Mails a link to the new address, which is valid for a day; until it is confirmed the address stays. The response is the same if another account has the address. Requires a sign-in, or a confirmed password, of the last ten minutes (`confirmation_required`). `conflict` if the service sends no mail.',
  access: 'session',
  sign_in: true,
  example: { email: 'ada@example.net' },
  status: 204,
  run: changes.requestChange,
})

export const confirmChange = route({
  method: 'POST',
  path: '/api/auth/confirm-email',
  tag: 'Authentication',
  metrics: false,
  summary: 'Confirm another email address with a mailed token',
  description:
    'Needs no session and creates none. The former address gets a mail with a link that undoes the change for 72 hours, if it was verified and no earlier change can still be undone. The token works once.',
  access: 'public',
  sign_in: true,
  limited_as: 'sign_in',
  example: { token: 'nCT4k3bQ0mM3gqW8cVhT5yRr2L9uXoZs1dEfGaHiJkU' },
  status: 204,
  run: changes.confirmChange,
})

export const undoChange = route({
  method: 'POST',
  path: '/api/auth/undo-email',
  tag: 'Authentication',
  metrics: false,
  summary: 'Undo a change of the email address with a mailed token',
  description:
    'Gives the account its former address back, tells the address that loses the account, and ends all sessions, API keys and mailed links of the user. Needs no session and creates none. The token works once, for 72 hours.',
  access: 'public',
  sign_in: true,
  limited_as: 'sign_in',
  example: { token: 'nCT4k3bQ0mM3gqW8cVhT5yRr2L9uXoZs1dEfGaHiJkU' },
  status: 204,
  run: changes.undoChange,
})

export const checkLink = route({
  method: 'POST',
  path: '/api/auth/check-link',
  tag: 'Authentication',
  metrics: false,
  summary: 'Check whether a mailed link still works, before a form is shown',
  description:
    'Uses nothing up. `not_found` if the token is unknown, expired or used: which of them, no caller learns. Failures count as sign-ins.',
  access: 'public',
  sign_in: true,
  changes: false,
  example: { link: 'reset_password', token: 'nCT4k3bQ0mM3gqW8cVhT5yRr2L9uXoZs1dEfGaHiJkU' },
  status: 204,
  run: service.checkLink,
})
