import { route } from '../../endpoint.ts'
import { Capabilities } from './schema.ts'
import * as service from './service.ts'

export const get = route({
  method: 'GET',
  path: '/api/features',
  tag: 'Setup',
  summary: 'Get what the service offers',
  description:
    'What a page has to know before a sign-in: the ways to sign in, what is configured, and the maximum sizes of messages; `csrf` is missing if no CSRF token is checked. It is the same for every caller.',
  access: 'public',
  output: Capabilities,
  run: service.get,
})
