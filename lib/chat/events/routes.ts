import type * as v from 'valibot'
import { parseInput } from '../../core/use-case.ts'
import { route } from '../../endpoint.ts'
import { ConversationStreamEvent, StreamHeaders, type StreamQuery, StreamRequest } from './schema.ts'

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
  query: StreamRequest,
  response_headers: { 'Cache-Control': 'always', 'X-Accel-Buffering': 'always' },
  output: ConversationStreamEvent,
  errors: ['not_found', 'too_many_streams', 'unavailable'],
  handler: ({ chat, actor, params, query, headers }) =>
    chat.events.open(actor, params.conversation_id, optionsOf(headers, query)),
})

export const streamAll = route({
  method: 'GET',
  path: '/api/stream',
  tag: 'Stream',
  summary: 'Follow the events of all your conversations in one stream (Server-Sent Events)',
  description:
    'Like the stream of one conversation; includes conversations joined later. Ids of the two kinds of streams are not interchangeable. Order is guaranteed within a conversation. A server key with the scope `system` follows all conversations; its events have `subjects` beside the payload: your own ids of the users that they name, by user id.',
  access: 'session',
  answer: 'stream',
  headers: StreamHeaders,
  query: StreamRequest,
  response_headers: { 'Cache-Control': 'always', 'X-Accel-Buffering': 'always' },
  output: ConversationStreamEvent,
  errors: ['too_many_streams', 'unavailable'],
  handler: ({ chat, actor, query, headers }) => chat.events.openAll(actor, optionsOf(headers, query)),
})

/**
 * The header, which browsers send by themselves, has precedence over the query; an invalid query is refused in any
 * case.
 *
 * @throws ChatError `validation_failed`
 */
function optionsOf(headers: Headers, query: v.InferInput<typeof StreamRequest>): v.InferInput<typeof StreamQuery> {
  const { ticket: _, ...options } = parseInput(StreamRequest, query)
  const last_event_id = headers.get('last-event-id') || options.last_event_id
  return { ...options, ...(last_event_id && { last_event_id }) }
}
