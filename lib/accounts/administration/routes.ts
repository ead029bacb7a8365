import { route } from '../../endpoint.ts'
import { AccountAnswer, Lockdown } from '../users/schema.ts'
import * as changes from './change.ts'
import * as lockdown from './lockdown.ts'

export const change = route({
  method: 'PATCH',
  path: '/api/admin/users/{user_id}',
  tag: 'Administration',
  summary: 'Change the address, the roles, the state, the name or the password of a user',
  description:
    'What is left out stays. Disabling ends the sessions and streams of the user at once. Another address has yet to be proven, unless `email_verified` says otherwise. The last enabled administrator can be neither disabled nor stripped (`conflict`).',
  access: 'admin',
  example: { roles: ['admin', 'member'] },
  output: AccountAnswer,
  run: changes.change,
})

export const lockDown = route({
  method: 'POST',
  path: '/api/admin/users/{user_id}/lockdown',
  tag: 'Administration',
  summary: 'End all access of a user that others may have got hold of',
  description:
    'Ends sessions with their streams, API keys, identities at providers, links to set a password, known browsers and the invites the user made, at once. The account and its password stay: change the password, or disable the account, as well where that is needed.',
  access: 'admin',
  output: Lockdown,
  run: lockdown.lockDown,
})
