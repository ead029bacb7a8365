import { route } from '../../endpoint.ts'
import { MeAnswer } from '../sessions/schema.ts'
import * as service from './service.ts'

export const changeProfile = route({
  method: 'PATCH',
  path: '/api/auth/me',
  tag: 'Authentication',
  metrics: false,
  summary: 'Change your names, and whether you share what you have read',
  description:
    'Missing fields keep their value. Others see the new names at once, also on earlier messages. With `receipts: false` you are in no list of readers, and get none.',
  access: 'session',
  example: { display_name: 'Ada Lovelace', receipts: false },
  output: MeAnswer,
  run: service.changeProfile,
})

export const changePassword = route({
  method: 'POST',
  path: '/api/auth/password',
  tag: 'Authentication',
  metrics: false,
  summary: 'Change the password; your other sessions end',
  description:
    'Ends every other session of the user, pending reset links and requested changes of the address; API keys stay. Sets a cookie that marks the browser as known; others are no longer. Counts as a sign-in of the IP address; a user has five attempts a minute.',
  access: 'session',
  sign_in: true,
  answer: 'device',
  limited_as: 'sign_in',
  example: { current_password: 'correct horse battery', new_password: 'staple battery horse' },
  status: 204,
  response_headers: { 'Set-Cookie': 'always' },
  run: service.changePassword,
})
