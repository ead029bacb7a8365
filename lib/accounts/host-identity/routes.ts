import { route } from '../../endpoint.ts'
import { EnsuredAccount } from '../identities/schema.ts'
import { AccountAnswer, Subject } from '../users/schema.ts'
import * as ofClient from './service-client.ts'

export const ensure = route({
  method: 'PUT',
  path: '/api/admin/users/by-subject/{subject}',
  params: { subject: Subject },
  tag: 'Administration',
  summary: 'Create or change the user of a person of your application',
  description:
    'The user with your own id of the person, percent-encoded: the first call creates it (201), later ones change the given fields (200). A username or an address that another user has is not taken over. Also with a server key with the scope `users`, which neither makes nor changes administrators (403). Not with an API key.',
  access: 'admin',
  server_key: 'users',
  example: { username: 'grace', display_name: 'Grace Hopper' },
  status: 201,
  status_unless_created: 200,
  output: EnsuredAccount,
  run: ofClient.ensureBySubject,
})

export const findBySubject = route({
  method: 'GET',
  path: '/api/admin/users/by-subject/{subject}',
  params: { subject: Subject },
  tag: 'Administration',
  summary: 'Read the user of a person of your application',
  description: 'Also with a server key with the scope `users`. Not with an API key.',
  access: 'admin',
  server_key: 'users',
  output: AccountAnswer,
  run: ofClient.findBySubject,
})

export const endBySubject = route({
  method: 'POST',
  path: '/api/admin/users/by-subject/{subject}/end-sessions',
  params: { subject: Subject },
  tag: 'Administration',
  summary: 'End the streams and tokens of a person who has logged out of your application',
  description:
    'On all nodes, with the links to files; tokens that were made up to now are refused. A subject without a user has none. Also with a server key with the scope `users`. Not with an API key.',
  access: 'admin',
  server_key: 'users',
  status: 204,
  run: ofClient.endBySubject,
})
