import { route } from '../endpoint.ts'
import { Health, Readiness } from './schema.ts'
import * as service from './service.ts'

export const health = route({
  method: 'GET',
  path: '/healthz',
  tag: 'Operations',
  limited: false,
  log: 'debug',
  summary: 'Liveness probe',
  description: '200 while the process is responsive; it checks nothing else.',
  access: 'public',
  output: Health,
  run: service.health,
})

export const readiness = route({
  method: 'GET',
  path: '/readyz',
  tag: 'Operations',
  limited: false,
  log: 'debug',
  summary: 'Readiness probe',
  description:
    'Checks the database, its schema, and the exchange with other processes. Otherwise 503 with the failed checks in `errors`, also while the service is stopping. `attachments` is `missing` while the storage of files is: the service stays ready.',
  access: 'public',
  output: Readiness,
  run: service.readiness,
})

export const metrics = route({
  method: 'GET',
  path: '/metrics',
  tag: 'Operations',
  limited: false,
  log: 'debug',
  summary: 'Prometheus metrics',
  description:
    "In Prometheus' text format. Requires `metrics.token`, or one of `metrics.previous_tokens`, as a bearer token if configured.",
  access: 'public',
  metrics_token: true,
  answer: 'text',
  content_type: 'text/plain; version=0.0.4; charset=utf-8',
  errors: ['unauthenticated'],
  handler: ({ chat, headers }) => chat.ops.metrics(headers.get('authorization')),
})
