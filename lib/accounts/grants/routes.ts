import { route } from '../../endpoint.ts'
import { Grants } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/auth/grants',
  tag: 'Authentication',
  metrics: false,
  summary: 'List the applications that you have connected',
  description: 'What each of them may do on `/mcp`, and when it was last used, to the minute. Not with an API key.',
  access: 'session',
  output: Grants,
  run: service.list,
})

export const revoke = route({
  method: 'DELETE',
  path: '/api/auth/grants/{grant_id}',
  tag: 'Authentication',
  metrics: false,
  summary: 'Disconnect an application',
  description: 'Its tokens are refused from the next call on, and what it waits for ends. Not with an API key.',
  access: 'session',
  status: 204,
  run: service.revoke,
})
