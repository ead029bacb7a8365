import { contextOf } from '../../core/context-of.ts'
import { parseInput } from '../../core/use-case.ts'
import { route } from '../../endpoint.ts'
import { FeedPage, FeedQuery } from './schema.ts'
import * as service from './service.ts'

export const read = route({
  method: 'GET',
  path: '/api/feed',
  tag: 'Stream',
  summary: 'Read the events of all your conversations after a position',
  description:
    'For programs that must miss no event and handle none twice: the events of `GET /api/stream`, in pages of at most 1 MiB. Without `after` it returns no event, but the present `position`; continue with the `position` of each answer, at once if it has `more`. With `wait_seconds` the answer waits for the first event. Where the stream would send `stream.reset`, there is `reset`. A call counts as a stream. A server key with the scope `system` reads all conversations, with `subjects` in each event. 404 unless `bots.enabled`, `hooks.enabled` or `webhooks.enabled`.',
  access: 'session',
  needs_scope: 'stream',
  waits: true,
  query: FeedQuery,
  output: FeedPage,
  errors: ['validation_failed', 'not_found', 'forbidden', 'too_many_streams', 'unavailable'],
  before: async ({ chat }) => service.assertServed(contextOf(chat)),
  handler: ({ chat, actor, query, gone }) => chat.feed.read(actor, { ...parseInput(FeedQuery, query), signal: gone() }),
})
