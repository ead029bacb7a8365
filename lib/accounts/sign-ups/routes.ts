import { route } from '../../endpoint.ts'
import { LoginAnswer } from '../sessions/schema.ts'
import * as service from './service.ts'

export const signUp = route({
  method: 'POST',
  path: '/api/auth/sign-up',
  tag: 'Authentication',
  metrics: false,
  summary: 'Sign up with a mailed invite',
  description:
    'Creates the account that `chat-server user invite` has invited, and signs it in. The address is that of the invite, and verified. The token works once.',
  access: 'public',
  sign_in: true,
  answer: 'session',
  limited_as: 'sign_in',
  example: {
    token: 'nCT4k3bQ0mM3gqW8cVhT5yRr2L9uXoZs1dEfGaHiJkU',
    username: 'grace',
    password: 'staple battery horse',
  },
  response_headers: { 'Set-Cookie': 'always', 'X-Session-Rotated': 'always' },
  output: LoginAnswer,
  run: service.signUp,
})
