import { route } from '../endpoint.ts'
import { Merged } from './schema.ts'
import * as service from './service.ts'

export const merge = route({
  method: 'POST',
  path: '/api/admin/users/merge',
  tag: 'Administration',
  summary: 'Make one user of two',
  description:
    'Everything of `from` becomes that of `into`, and `from` is deleted; the same merge again returns the same. Each is named by `user_id` or `subject`. Only with a server key with the scope `users`; on the machine there is `chat-server user merge`.',
  access: 'admin',
  server_key: 'users',
  example: { from: { subject: 'visitor-7' }, into: { subject: '42' } },
  output: Merged,
  run: service.merge,
})
