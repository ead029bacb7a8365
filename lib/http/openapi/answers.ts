import { type AnyRoute, isLimited, type ResponseHeaders } from '../../endpoint.ts'
import { failuresOf } from './error-responses.ts'
import { type HeaderName, headersOf, LIMIT_HEADERS } from './headers.ts'
import { convert, type Json } from './schemas.ts'
import { ChatCompletionServerSentEvent, ConversationServerSentEvent } from './streams.ts'

/** The responses of a route by status. */
export function responsesOf(each: AnyRoute): Json {
  return {
    [each.status]: success(each),
    ...(each.status_unless_created && { [each.status_unless_created]: success(each) }),
    ...(each.status_if_empty && { [each.status_if_empty]: success(each, { isEmpty: true }) }),
    ...Object.fromEntries(
      (each.file_statuses ?? []).map((status) => [
        status,
        success(each, { isEmpty: status === 304, isPart: status === 206 }),
      ]),
    ),
    ...redirection(each),
    ...failuresOf(each),
    431: { $ref: '#/components/responses/HeadersTooLarge' },
  }
}

function success(each: AnyRoute, { isEmpty = each.status === 204, isPart = false } = {}): Json {
  const isSent = (name: HeaderName) => isPart || name !== 'Content-Range'
  const maybe = [...namesOf(each, 'maybe').filter(isSent), ...(isLimited(each) ? LIMIT_HEADERS : [])]
  return {
    description: each.summary,
    headers: headersOf(namesOf(each, 'always'), maybe),
    ...(!isEmpty && { content: contentOf(each) }),
  }
}

function namesOf({ response_headers }: AnyRoute, when: 'always' | 'maybe'): HeaderName[] {
  return (Object.keys(response_headers) as (keyof ResponseHeaders)[]).filter((name) => response_headers[name] === when)
}

function contentOf(each: AnyRoute): Json {
  // Any media type, and so any shape.
  if (each.answer === 'file') return { [each.content_type ?? '*/*']: {} }
  if (each.answer === 'document') return { '*/*': { schema: {} } }
  const schema = each.output && convert(each.output)
  if (each.answer === 'text') return { [each.content_type ?? 'text/plain']: { schema: schema ?? { type: 'string' } } }
  if (each.answer === 'stream') return { 'text/event-stream': { schema: convert(ConversationServerSentEvent) } }
  const pieces = each.pieces && { 'text/event-stream': { schema: convert(ChatCompletionServerSentEvent) } }
  return { 'application/json': { schema }, ...pieces }
}

/** The response to a browser, which does not ask for JSON. */
function redirection(each: AnyRoute): Json {
  if (each.answer !== 'redirect') return {}
  const headers = headersOf(['Location', ...namesOf(each, 'always')], LIMIT_HEADERS)
  return { 303: { description: 'The same as a redirect, for requests that do not accept JSON', headers } }
}
