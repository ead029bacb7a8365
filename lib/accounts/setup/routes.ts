import { route } from '../../endpoint.ts'
import { SetupDone, SetupStatus } from './schema.ts'
import * as service from './service.ts'

export const get = route({
  method: 'GET',
  path: '/api/setup',
  tag: 'Setup',
  metrics: false,
  summary: 'Get the set-up status',
  description:
    'Returns whether a first user exists. Until then, the first caller of `POST /api/setup` becomes the administrator.',
  access: 'public',
  sign_in: true,
  output: SetupStatus,
  run: service.get,
})

export const run = route({
  method: 'POST',
  path: '/api/setup',
  tag: 'Setup',
  metrics: false,
  summary: 'Create the first administrator',
  description:
    'Works once: of two simultaneous calls, one succeeds. Afterwards every call is `already_set_up`, whatever its body. Does not sign in. If `setup.code` is configured, a call without it is `forbidden`.',
  access: 'public',
  sign_in: true,
  limited_as: 'sign_in',
  before: ({ chat }) => chat.setup.assertOpen(),
  example: { email: 'ada@example.org', password: 'correct horse battery' },
  output: SetupDone,
  run: service.runFrom,
})
