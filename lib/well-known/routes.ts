import { route } from '../endpoint.ts'
import * as service from './service.ts'

export const get = route({
  method: 'GET',
  path: '/.well-known/{path}',
  takes_rest: true,
  tag: 'Operations',
  limited: false,
  log: 'debug',
  summary: 'Get a well-known document, such as security.txt',
  description:
    'The exact path of an entry of `well_known.entries`, which may contain slashes. Without `features.well_known` everything under `/.well-known/` is 404.',
  access: 'public',
  answer: 'document',
  run: service.get,
})
