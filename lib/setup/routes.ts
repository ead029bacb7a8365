import { route } from '../http/route.ts'
import { NewAdministrator, SetupDone, SetupStatus } from './schema.ts'

export const readSetup = route({
  method: 'GET',
  path: '/api/setup',
  tag: 'Setup',
  summary: 'Whether the service is set up',
  access: 'public',
  output: SetupStatus,
  handler: ({ chat }) => chat.setup.status(),
})

export const runSetup = route({
  method: 'POST',
  path: '/api/setup',
  tag: 'Setup',
  summary: 'Create the first administrator',
  access: 'public',
  sign_in: true,
  limited_as: 'sign_in',
  before: ({ chat }) => chat.setup.assertOpen(),
  body: NewAdministrator,
  output: SetupDone,
  errors: ['already_set_up'],
  handler: ({ chat, client, body }) => chat.setup.runFrom(client, body),
})
