import { route } from '../http/route.ts'
import { PasswordReset, ResetRequest } from './schema.ts'

export const forgotPassword = route({
  method: 'POST',
  path: '/api/auth/forgot',
  tag: 'Authentication',
  summary: 'Have a link mailed that sets a new password',
  access: 'public',
  sign_in: true,
  limited_as: 'sign_in',
  body: ResetRequest,
  status: 204,
  handler: ({ chat, client, body }) => chat.resets.request(client, body),
})

export const resetPassword = route({
  method: 'POST',
  path: '/api/auth/reset',
  tag: 'Authentication',
  summary: 'Set a new password with a token that was mailed',
  access: 'public',
  sign_in: true,
  limited_as: 'sign_in',
  body: PasswordReset,
  status: 204,
  errors: ['not_found'],
  handler: ({ chat, client, body }) => chat.resets.redeem(client, body),
})
