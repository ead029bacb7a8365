import { route } from '../http/route.ts'
import { AuditPage, AuditQuery } from './schema.ts'

export const listAudit = route({
  method: 'GET',
  path: '/api/admin/audit',
  tag: 'Administration',
  summary: 'List who did what, newest first',
  access: 'admin',
  query: AuditQuery,
  output: AuditPage,
  handler: ({ chat, actor, query }) => chat.audit.list(actor, query),
})
