import { route } from '../../endpoint.ts'
import { AuditPage } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/admin/audit',
  tag: 'Administration',
  summary: 'List recorded actions, newest first',
  description:
    'With a filter, a page may have few or no entries and still a `next_after`: continue until it is missing.',
  access: 'admin',
  output: AuditPage,
  run: service.list,
})
