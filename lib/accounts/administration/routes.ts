import { route } from '../../endpoint.ts'
import { AccountAnswer, Lockdown } from '../users/schema.ts'
import * as changes from './service.ts'
import * as lockdown from './service-lockdown.ts'

export const change = route({
  method: 'PATCH',
  path: '/api/admin/users/{user_id}',
  tag: 'Administration',
  summary: 'Change the email address, roles, status, names or password of a user',
  description:
    'Missing fields keep their value; `email_taken` and `username_taken` if another user has the new one. Disabling ends the sessions and streams of the user at once. A new email address is unverified, unless `email_verified` is true. The last active administrator can neither be disabled nor lose the role (`conflict`).',
  access: 'admin',
  example: { roles: ['admin', 'member'] },
  output: AccountAnswer,
  run: changes.change,
})

export const lockDown = route({
  method: 'POST',
  path: '/api/admin/users/{user_id}/lockdown',
  tag: 'Administration',
  summary: 'Revoke all access to a compromised account',
  description:
    "Ends sessions with their streams, API keys, provider identities, password links, known browsers and the user's invites at once. The account and its password stay: also change the password, or disable the account, if needed.",
  access: 'admin',
  output: Lockdown,
  run: lockdown.lockDown,
})
