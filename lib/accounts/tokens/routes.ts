import { route } from '../../endpoint.ts'
import { IssuedToken } from './schema.ts'
import * as service from './service.ts'

export const issue = route({
  method: 'POST',
  path: '/api/auth/tokens',
  tag: 'Authentication',
  metrics: false,
  summary: 'Issue a token for a short time',
  description:
    'A signed token for `Authorization: Bearer`, which acts as the caller until it expires, and ends earlier with the session or the login of this call, and with what ends all sessions. With `scopes: ["stream"]` it is a ticket, which opens streams as `?ticket=` too. An API key or a token can make tickets only (403).',
  access: 'session',
  needs_scope: 'read',
  body_optional: true,
  example: { ttl_seconds: 600, scopes: ['read'] },
  status: 201,
  output: IssuedToken,
  run: service.issueOwn,
})
