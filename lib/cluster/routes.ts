import { route } from '../endpoint.ts'
import { NodeList } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/admin/nodes',
  tag: 'Administration',
  summary: 'List the running processes, first started first',
  description:
    'All processes that share the database, at most 1,000. One that has not reported for `cluster.dead_seconds` is dead and not listed.',
  access: 'admin',
  output: NodeList,
  run: service.list,
})
