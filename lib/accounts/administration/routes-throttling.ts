import { route } from '../../endpoint.ts'
import { LimitReset, LimitStatus } from '../../limits/schema.ts'
import * as throttling from './service-throttling.ts'

export const status = route({
  method: 'GET',
  path: '/api/admin/limits/status',
  tag: 'Administration',
  summary: 'List the callers that are throttled now, and how sign-ins went',
  description:
    'By the limits that all processes share: what the default limit refuses is not in it, since each process counts that in its memory.',
  access: 'admin',
  output: LimitStatus,
  run: throttling.status,
})

export const reset = route({
  method: 'POST',
  path: '/api/admin/limits/reset',
  tag: 'Administration',
  summary: 'Forget the calls of a user or an address',
  description: 'It may call again at once. Name one of the two, as the status shows it.',
  access: 'admin',
  sign_in: true,
  example: { address: '192.0.2.7' },
  output: LimitReset,
  run: throttling.reset,
})
