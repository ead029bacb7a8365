import { route } from '../../endpoint.ts'
import { SwitchedWebhook, WebhooksOfUsers } from './schema.ts'
import * as service from './service-admin.ts'

export const listAll = route({
  method: 'GET',
  path: '/api/admin/webhooks',
  tag: 'Administration',
  summary: 'List the webhooks of all users, newest first',
  description:
    'Each with the host of its URL alone: the rest may be a secret. Not with an API key. 404 unless `webhooks.enabled`.',
  access: 'admin',
  output: WebhooksOfUsers,
  run: service.listAll,
})

export const changeAny = route({
  method: 'PATCH',
  path: '/api/admin/webhooks/{webhook_id}',
  tag: 'Administration',
  summary: 'Disable or enable any webhook',
  description: 'What an administrator has disabled, only an administrator enables. Not with an API key.',
  access: 'admin',
  example: { enabled: false },
  output: SwitchedWebhook,
  run: service.changeAny,
})
