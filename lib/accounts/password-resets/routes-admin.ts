import { route } from '../../endpoint.ts'
import { ResetLink } from './schema.ts'
import * as service from './service-admin.ts'

export const issueReset = route({
  method: 'POST',
  path: '/api/admin/users/{user_id}/reset-link',
  tag: 'Administration',
  summary: 'Create a link with which a user sets a new password',
  description:
    'For an administrator to hand over: the token works once, for an hour, and is shown only here. `url` is missing if the service does not know its public address. For your own account, it requires a sign-in within the last ten minutes, or `POST /api/auth/confirm` (`confirmation_required`).',
  access: 'admin',
  sign_in: true,
  status: 201,
  output: ResetLink,
  run: service.issueFor,
})
