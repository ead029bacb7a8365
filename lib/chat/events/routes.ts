import * as v from 'valibot'
import { route } from '../../endpoint.ts'
import { ConversationStreamEvent, StreamHeaders, StreamQuery } from './schema.ts'

export const stream = route({
  method: 'GET',
  path: '/api/stream/conversations/{conversation_id}',
  tag: 'Stream',
  summary: "Follow a conversation's events (Server-Sent Events)",
  description:
    'Begins with `stream.ready`. With an event id it continues with exactly the events after that id, then with new events; an invalid id gets `stream.reset`. Each event is one line of JSON in `data`. `HEAD` returns the headers and opens no stream.',
  access: 'session',
  answer: 'stream',
  headers: StreamHeaders,
  query: StreamQuery,
  response_headers: { 'Cache-Control': 'always', 'X-Accel-Buffering': 'always' },
  output: ConversationStreamEvent,
  errors: ['not_found', 'too_many_streams', 'unavailable'],
  handler: ({ chat, actor, params, query, headers }) =>
    chat.events.open(actor, params.conversation_id, { ...query, last_event_id: resumeFrom(headers, query) }),
})

export const streamAll = route({
  method: 'GET',
  path: '/api/stream',
  tag: 'Stream',
  summary: 'Follow the events of all your conversations in one stream (Server-Sent Events)',
  description:
    'Like the stream of one conversation; includes conversations joined later. Ids of the two kinds of streams are not interchangeable. Order is guaranteed within a conversation.',
  access: 'session',
  answer: 'stream',
  headers: StreamHeaders,
  query: StreamQuery,
  response_headers: { 'Cache-Control': 'always', 'X-Accel-Buffering': 'always' },
  output: ConversationStreamEvent,
  errors: ['too_many_streams', 'unavailable'],
  handler: ({ chat, actor, query, headers }) =>
    chat.events.openAll(actor, { ...query, last_event_id: resumeFrom(headers, query) }),
})

/**
 * The header, which browsers send by themselves, has precedence over the query; an invalid query is refused in any
 * case.
 */
function resumeFrom(headers: Headers, query: v.InferInput<typeof StreamQuery>): string | undefined {
  return (v.is(StreamQuery, query) && headers.get('last-event-id')) || query.last_event_id
}
