import { type AnyRoute, isLimited } from '../../endpoint.ts'
import type { ResponseHeaders } from '../../endpoint-kinds.ts'
import { failuresOf } from './error-responses.ts'
import { type HeaderName, headersOf, LIMIT_HEADERS } from './headers.ts'
import { convert, type Json } from './schemas.ts'
import { ConversationServerSentEvent, SENT_EVENTS } from './streams.ts'

/** The responses of a route by status. */
export function responsesOf(route: AnyRoute): Json {
  return {
    [route.status]: success(route),
    ...(route.status_unless_created && { [route.status_unless_created]: success(route) }),
    ...(route.status_if_empty && { [route.status_if_empty]: success(route, { isEmpty: true }) }),
    ...(route.text_if_empty !== undefined && { 200: plainText(route) }),
    ...Object.fromEntries(
      (route.file_statuses ?? []).map((status) => [
        status,
        success(route, { isEmpty: status === 304, isPart: status === 206 }),
      ]),
    ),
    ...redirection(route),
    ...failuresOf(route),
    431: { $ref: '#/components/responses/HeadersTooLarge' },
  }
}

/** The answer without a value, as a text. */
function plainText(route: AnyRoute): Json {
  const { content: _, ...described } = success(route, { isEmpty: true }) as Record<string, Json>
  return { ...described, content: { 'text/plain': { schema: { type: 'string' } } } }
}

function success(route: AnyRoute, { isEmpty = route.status === 204, isPart = false } = {}): Json {
  const isSent = (name: HeaderName) => isPart || name !== 'Content-Range'
  const maybe = [...namesOf(route, 'maybe').filter(isSent), ...(isLimited(route) ? LIMIT_HEADERS : [])]
  return {
    description: route.summary,
    headers: headersOf(namesOf(route, 'always'), maybe),
    ...(!isEmpty && { content: contentOf(route) }),
  }
}

function namesOf({ response_headers }: AnyRoute, when: 'always' | 'maybe'): HeaderName[] {
  return (Object.keys(response_headers) as (keyof ResponseHeaders)[]).filter((name) => response_headers[name] === when)
}

function contentOf(route: AnyRoute): Json {
  // Any media type, and so any shape.
  if (route.answer === 'file') return { [route.content_type ?? '*/*']: {} }
  if (route.answer === 'document') return { '*/*': { schema: {} } }
  const schema = route.output && convert(route.output)
  if (route.answer === 'text') return { [route.content_type ?? 'text/plain']: { schema: schema ?? { type: 'string' } } }
  if (route.answer === 'stream') return { 'text/event-stream': { schema: convert(ConversationServerSentEvent) } }
  const pieces = route.pieces && { 'text/event-stream': { schema: convert(SENT_EVENTS.get(route.pieces)!) } }
  return { ...(schema && { 'application/json': { schema } }), ...pieces }
}

/** The response to a browser, which does not ask for JSON. */
function redirection(route: AnyRoute): Json {
  if (route.answer !== 'redirect') return {}
  const headers = headersOf(['Location', ...namesOf(route, 'always')], LIMIT_HEADERS)
  return { 303: { description: 'The same as a redirect, for requests that do not accept JSON', headers } }
}
