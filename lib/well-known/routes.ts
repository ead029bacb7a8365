import { route } from '../http/route.ts'

export const readWellKnown = route({
  method: 'GET',
  path: '/.well-known/{path}',
  takes_rest: true,
  tag: 'Operations',
  summary: 'A document that is configured under this path, such as security.txt',
  access: 'public',
  answer: 'document',
  errors: ['not_found'],
  handler: ({ chat, params }) => chat.wellKnown.read(params.path),
})
