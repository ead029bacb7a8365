import { ChatError, ERRORS, type ErrorCode } from '../../errors.ts'
import { type FailureShape, PROBLEM } from '../failure.ts'
import { type AnyRoute, HEADER_FIELDS, isLimited } from '../route.ts'
import { surfaceOf } from '../surface.ts'
import { type HeaderName, headersOf, LIMIT_HEADERS } from './headers.ts'
import { convert, type Json, toPascal } from './schemas.ts'

/** The codes a route can answer with, those that come with its access and its surface included. */
export function errorsOf(each: AnyRoute): ErrorCode[] {
  const isSession = each.access === 'session' || each.access === 'admin'
  const codes: (ErrorCode | false)[] = [
    surfaceOf(each.path).isServed !== undefined && 'not_found',
    'method_not_allowed',
    isSession && 'unauthenticated',
    isSession && 'session_expired',
    (each.changes || each.answer === 'stream') && 'csrf_failed',
    isSession && (each.access === 'admin' || each.sign_in === true) && 'forbidden',
    each.access === 'optional' && 'unauthenticated',
    each.body !== undefined && 'malformed_json',
    each.body !== undefined && 'payload_too_large',
    each.body !== undefined && 'unsupported_media_type',
    (each.body !== undefined || each.query !== undefined) && 'validation_failed',
    isLimited(each) && 'rate_limited',
    isLimited(each) && 'unavailable',
    each.changes && 'storage_full',
    'internal',
  ]
  return [...new Set([...each.errors, ...codes.filter((code) => code !== false)])]
}

/** The answers of a route by status; failures refer to {@link failureResponses}. */
export function responsesOf(each: AnyRoute): Json {
  const failures = [...failuresOf(each)].map(([status, codes]) => [
    status,
    { $ref: `#/components/responses/${failureName(each, codes)}` },
  ])
  return { [each.status]: success(each), ...redirection(each), ...Object.fromEntries(failures) }
}

/** Every failing answer of some routes, by name. */
export function failureResponses(routes: AnyRoute[]): Json {
  const all = routes.flatMap((each) =>
    [...failuresOf(each)].map(([status, codes]) => [failureName(each, codes), failure(each, status, codes)] as const),
  )
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function failuresOf(each: AnyRoute): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>()
  // In the order of the table, so that the same codes are the same answer.
  const codes = new Set(errorsOf(each))
  for (const code of Object.keys(ERRORS) as ErrorCode[])
    if (codes.has(code)) byStatus.set(ERRORS[code][0], [...(byStatus.get(ERRORS[code][0]) ?? []), code])
  return byStatus
}

function failureName(each: AnyRoute, codes: ErrorCode[]): string {
  const prefix = shapeOf(each, codes) === PROBLEM ? '' : 'ChatCompletion'
  return `${prefix}${codes.map(toPascal).join('Or')}${isLimited(each) || codes.includes('method_not_allowed') ? '' : 'Unlimited'}`
}

function failure(each: AnyRoute, status: number, codes: ErrorCode[]): Json {
  const always: HeaderName[] = status === 429 || status === 503 ? ['Retry-After'] : status === 405 ? ['Allow'] : []
  const maybe: HeaderName[] = [
    // Method and surface are looked at before everything else.
    ...(isLimited(each) && status !== 405 ? LIMIT_HEADERS : []),
    ...(codes.includes('session_expired') ? (['Set-Cookie'] as const) : []),
  ]
  const shape = shapeOf(each, codes)
  const examples = codes.map((code) => [
    code,
    { value: shape.toBody(new ChatError(code), 'b2f7d1c0-5c1e-4d0c-9f6e-0d8c1f6a7b3e') },
  ])
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code][1]}`).join(' '),
    headers: headersOf(always, maybe),
    content: {
      [shape.content_type]: {
        schema: { allOf: [convert(shape.schema), { type: 'object', properties: shape.withCodes({ enum: codes }) }] },
        ...(shape === PROBLEM && { examples: Object.fromEntries(examples) }),
      },
    },
  }
}

/** What is not served is as unknown as any path, and does not speak as its surface does. */
function shapeOf(each: AnyRoute, codes: ErrorCode[]): FailureShape {
  return codes.includes('not_found') && !each.errors.includes('not_found') ? PROBLEM : surfaceOf(each.path).failure
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
  if (each.answer === 'document') return { '*/*': { schema: { type: 'string' } } }
  if (each.answer === 'text') return { [each.content_type ?? 'text/plain']: { schema: { type: 'string' } } }
  const schema = each.output && convert(each.output)
  if (each.answer === 'stream') return { 'text/event-stream': { schema } }
  const pieces = each.pieces && { 'text/event-stream': { schema: convert(each.pieces) } }
  return { 'application/json': { schema }, ...pieces }
}

/** What a browser gets, which asks for no JSON. */
function redirection(each: AnyRoute): Json {
  if (each.answer !== 'redirect') return {}
  const headers = headersOf(['Location', 'Set-Cookie', 'X-Session-Rotated'], LIMIT_HEADERS)
  return { 303: { description: 'The same, for who does not ask for JSON', headers } }
}
