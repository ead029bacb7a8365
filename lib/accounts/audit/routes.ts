import { route } from '../../endpoint.ts'
import { AuditPage } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/admin/audit',
  tag: 'Administration',
  summary: 'List who did what, newest first',
  description:
    'With a filter a page may have few entries or none and a `next_after` all the same: go on until there is none.',
  access: 'admin',
  output: AuditPage,
  run: service.list,
})
