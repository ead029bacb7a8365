import { route } from '../endpoint.ts'
import { Health, Readiness } from './schema.ts'
import * as service from './service.ts'

export const health = route({
  method: 'GET',
  path: '/healthz',
  tag: 'Operations',
  summary: 'Whether the process turns',
  description: '200 while the event loop turns; it looks at nothing. For a liveness probe.',
  access: 'public',
  output: Health,
  run: service.health,
})

export const readiness = route({
  method: 'GET',
  path: '/readyz',
  tag: 'Operations',
  summary: 'Whether the service can do its work',
  description:
    'Looks at the database, its schema, and the exchange with other processes. Otherwise 503 with what fails in `errors`, also while the service stops.',
  access: 'public',
  output: Readiness,
  run: service.readiness,
})

export const metrics = route({
  method: 'GET',
  path: '/metrics',
  tag: 'Operations',
  summary: 'Counters for Prometheus',
  description: "In Prometheus' text format. Asks for `metrics.token` as a bearer token where one is configured.",
  access: 'public',
  metrics_token: true,
  answer: 'text',
  content_type: 'text/plain; version=0.0.4; charset=utf-8',
  errors: ['unauthenticated'],
  handler: ({ chat, headers }) => chat.ops.metrics(headers.get('authorization')),
})
