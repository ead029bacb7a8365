import { HEADER_FIELDS } from '../../core/headers.ts'
import { type AnyRoute, isLimited } from '../../endpoint.ts'
import { failuresOf } from './failures.ts'
import { type HeaderName, headersOf, LIMIT_HEADERS } from './headers.ts'
import { convert, type Json } from './schemas.ts'
import { ChatCompletionServerSentEvent, ConversationServerSentEvent } from './streams.ts'

/** The answers of a route by status. */
export function responsesOf(each: AnyRoute): Json {
  return {
    [each.status]: success(each),
    ...redirection(each),
    ...failuresOf(each),
    431: { $ref: '#/components/responses/HeadersTooLarge' },
  }
}

function success(each: AnyRoute): Json {
  const { entries = {} } = (each.output ?? {}) as { entries?: Record<string, unknown> }
  const fields = Object.entries(HEADER_FIELDS).flatMap(([field, header]) => (field in entries ? [header] : []))
  const isReplay = (header: HeaderName) => header === HEADER_FIELDS.idempotency_replayed
  const session = sessionHeaders(each)
  const always = [...fields.filter((each) => !isReplay(each)), ...session.always]
  const maybe = [...fields.filter(isReplay), ...session.maybe, ...(isLimited(each) ? LIMIT_HEADERS : [])]
  if (each.pieces) maybe.push('X-Accel-Buffering')
  return {
    description: each.summary,
    headers: headersOf(each.answer === 'stream' ? ['Cache-Control', 'X-Accel-Buffering'] : always, maybe),
    ...(each.status !== 204 && { content: contentOf(each) }),
  }
}

/** Signing in sets cookies and says so; signing out clears them; what may sign in does so for whom it has to. */
function sessionHeaders({ answer, access, output, sign_in }: AnyRoute): Record<'always' | 'maybe', HeaderName[]> {
  if (answer === 'binding') return { always: ['Set-Cookie'], maybe: [] }
  if (answer !== 'session' && answer !== 'redirect') return { always: [], maybe: [] }
  if (access === 'optional' && !sign_in) return { always: [], maybe: ['Set-Cookie', 'X-Session-Rotated'] }
  return { always: output ? ['Set-Cookie', 'X-Session-Rotated'] : ['Set-Cookie'], maybe: [] }
}

function contentOf(each: AnyRoute): Json {
  // Of any media type, and so of any shape once it is read.
  if (each.answer === 'document') return { '*/*': { schema: {} } }
  const schema = each.output && convert(each.output)
  if (each.answer === 'text') return { [each.content_type ?? 'text/plain']: { schema: schema ?? { type: 'string' } } }
  if (each.answer === 'stream') return { 'text/event-stream': { schema: convert(ConversationServerSentEvent) } }
  const pieces = each.pieces && { 'text/event-stream': { schema: convert(ChatCompletionServerSentEvent) } }
  return { 'application/json': { schema }, ...pieces }
}

/** What a browser gets, which asks for no JSON. */
function redirection(each: AnyRoute): Json {
  if (each.answer !== 'redirect') return {}
  const headers = headersOf(['Location', 'Set-Cookie', 'X-Session-Rotated'], LIMIT_HEADERS)
  return { 303: { description: 'The same as a redirect, for requests that do not accept JSON', headers } }
}
