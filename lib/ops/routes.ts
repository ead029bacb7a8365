import { route } from '../http/route.ts'
import { Health, Readiness } from './schema.ts'

export const readHealth = route({
  method: 'GET',
  path: '/healthz',
  tag: 'Operations',
  summary: 'Whether the process turns',
  access: 'public',
  output: Health,
  handler: ({ chat }) => chat.ops.health(),
})

export const readReadiness = route({
  method: 'GET',
  path: '/readyz',
  tag: 'Operations',
  summary: 'Whether the service can do its work',
  access: 'public',
  output: Readiness,
  errors: ['unavailable'],
  handler: ({ chat }) => chat.ops.ready(),
})

export const readMetrics = route({
  method: 'GET',
  path: '/metrics',
  tag: 'Operations',
  summary: 'Counters for Prometheus',
  access: 'public',
  answer: 'text',
  content_type: 'text/plain; version=0.0.4; charset=utf-8',
  errors: ['unauthenticated'],
  handler: ({ chat, headers }) => chat.ops.metrics(headers.get('authorization')),
})
