import { route } from '../../endpoint.ts'
import { MeAnswer } from '../sessions/schema.ts'
import * as service from './service.ts'

export const changeProfile = route({
  method: 'PATCH',
  path: '/api/auth/me',
  tag: 'Authentication',
  summary: 'Change what others see of you',
  description: 'What is left out stays. Others see the new names at once, also on what was written before.',
  access: 'session',
  example: { display_name: 'Ada Lovelace' },
  output: MeAnswer,
  run: service.changeProfile,
})

export const changePassword = route({
  method: 'POST',
  path: '/api/auth/password',
  tag: 'Authentication',
  summary: 'Change the password; your other sessions end',
  description:
    'Every other session of the user ends, and so do pending reset links; API keys stay. Counts as a sign-in of its address; a user may try five times a minute.',
  access: 'session',
  sign_in: true,
  limited_as: 'sign_in',
  example: { current_password: 'correct horse battery', new_password: 'staple battery horse' },
  status: 204,
  run: service.changePassword,
})
