import { route } from '../../endpoint.ts'
import { AccountAnswer, AccountFacts, Lockdown } from '../users/schema.ts'
import * as changes from './service.ts'
import * as inspection from './service-inspection.ts'
import * as lockdown from './service-lockdown.ts'

export const change = route({
  method: 'PATCH',
  path: '/api/admin/users/{user_id}',
  tag: 'Administration',
  summary: 'Change the email address, roles, status, names or password of a user',
  description:
    'Missing fields keep their value; `email_taken` and `username_taken` if another user has the new one. A new password, a new email address and disabling end the sessions and streams of the user at once, API keys (those of a disabled user work again when the user is enabled), reset links, requested changes of the address and links that undo one. A new email address is unverified, unless `email_verified` is true. The last active administrator can neither be disabled nor lose the role (`conflict`).',
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
    "Ends sessions with their streams, API keys, provider identities, mailed links, requested changes of the address, known browsers and the user's invites at once. The account and its password stay: also change the password, or disable the account, if needed.",
  access: 'admin',
  output: Lockdown,
  run: lockdown.lockDown,
})

export const describe = route({
  method: 'GET',
  path: '/api/admin/users/{user_id}',
  tag: 'Administration',
  summary: 'Get a user, and what belongs to the account',
  description:
    'The account, whether it has a password, how many sessions, API keys, identities and conversations it has, and until when failed sign-ins lock it.',
  access: 'admin',
  output: AccountFacts,
  run: inspection.describe,
})

export const unlock = route({
  method: 'POST',
  path: '/api/admin/users/{user_id}/unlock',
  tag: 'Administration',
  summary: 'Forget the failed sign-ins of a user',
  description: 'The user may sign in again at once. Changes nothing for an account that is not locked.',
  access: 'admin',
  sign_in: true,
  status: 204,
  run: inspection.unlock,
})
