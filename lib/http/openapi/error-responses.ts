import { ChatError, type ErrorCode, MESSAGES, STATUSES } from '../../core/errors.ts'
import { type AnyRoute, isLimited } from '../../endpoint.ts'
import { CompatError, CompatFailure } from '../../openai-api/schema.ts'
import { apiGroupOf } from '../api-groups.ts'
import { type FailureShape, PROBLEM, Problem } from '../response/error-shapes.ts'
import { errorsOf } from './errors.ts'
import { type HeaderName, headersOf, LIMIT_HEADERS } from './headers.ts'
import { reference } from './reference.ts'
import { expand, type Json, toPascal } from './schemas.ts'

/** The error responses of a route by status, as references to {@link failureResponses}. */
export function failuresOf(route: AnyRoute): Json {
  const failures = byStatus(route).map(([status, codes]) => [
    status,
    { $ref: `#/components/responses/${responseName(route, codes)}` },
  ])
  return Object.fromEntries(failures)
}

/** Every error response of some routes, by name. */
export function failureResponses(routes: AnyRoute[]): Json {
  return sorted(
    routes.flatMap((route) =>
      byStatus(route).map(([status, codes]) => [responseName(route, codes), failure(route, status, codes)]),
    ),
  )
}

/** The body of every error response of some routes, by name. */
export function failureSchemas(routes: AnyRoute[]): Json {
  return sorted(
    routes.flatMap((route) => byStatus(route).flatMap(([, codes]) => Object.entries(schemasOf(route, codes)))),
  )
}

function sorted(entries: (readonly [string, unknown])[]): Json {
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function byStatus(route: AnyRoute): [status: number, codes: ErrorCode[]][] {
  const codesBy = new Map<number, ErrorCode[]>()
  // In the order of the table, so that equal sets of codes share a response.
  const codes = new Set(errorsOf(route))
  for (const code of Object.keys(STATUSES) as ErrorCode[])
    if (codes.has(code)) codesBy.set(STATUSES[code], [...(codesBy.get(STATUSES[code]) ?? []), code])
  return [...codesBy]
}

function responseName(route: AnyRoute, codes: ErrorCode[]): string {
  return `${codesName(route, codes)}${isLimited(route) || codes.includes('method_not_allowed') ? '' : 'Unlimited'}`
}

function codesName(route: AnyRoute, codes: ErrorCode[]): string {
  return `${shapeOf(route, codes) === PROBLEM ? '' : 'ChatCompletion'}${codes.map(toPascal).join('Or')}`
}

/** A separate body schema for each set of codes: generators disagree about combined schemas. */
function schemasOf(route: AnyRoute, codes: ErrorCode[]): Json {
  const name = codesName(route, codes)
  const code = { type: 'string', enum: codes }
  if (shapeOf(route, codes) === PROBLEM) return { [`${name}Problem`]: withProperty(expand(Problem), { code }) }
  return {
    [`${name}Failure`]: withProperty(expand(CompatFailure), { error: { $ref: reference(`${name}Error`) } }),
    [`${name}Error`]: withProperty(expand(CompatError), { code }),
  }
}

function withProperty(schema: Json, property: Json): Json {
  return { ...schema, properties: { ...(schema.properties as Json), ...property } }
}

function failure(route: AnyRoute, status: number, codes: ErrorCode[]): Json {
  const maybe: HeaderName[] = [
    // Method and API group are checked before everything else.
    ...(isLimited(route) && status !== 405 ? LIMIT_HEADERS : []),
    ...(shapeOf(route, codes) !== PROBLEM && status !== 409 ? NOT_REPEATED : []),
    ...(codes.includes('session_expired') ? (['Set-Cookie'] as const) : []),
  ]
  const shape = shapeOf(route, codes)
  const always = [...(ALWAYS[status] ?? []), ...(shape !== PROBLEM && status === 409 ? NOT_REPEATED : [])]
  const examples = codes.map((code) => [
    code,
    { value: shape.toBody(new ChatError(code), 'b2f7d1c0-5c1e-4d0c-9f6e-0d8c1f6a7b3e') },
  ])
  return {
    description: codes.map((code) => `\`${code}\`: ${MESSAGES[code]}`).join(' '),
    headers: headersOf(always, maybe),
    content: {
      [shape.content_type]: {
        schema: { $ref: reference(Object.keys(schemasOf(route, codes))[0]!) },
        ...(shape === PROBLEM && { examples: Object.fromEntries(examples) }),
      },
    },
  }
}

/** Clients of OpenAI repeat a 409 otherwise. */
const NOT_REPEATED: HeaderName[] = ['X-Should-Retry']

/** The headers that a failure of this status has. */
const ALWAYS: Record<number, HeaderName[]> = {
  405: ['Allow'],
  416: ['Content-Range'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** A disabled route responds like an unknown path, not like its API group. */
function shapeOf(route: AnyRoute, codes: ErrorCode[]): FailureShape {
  return codes.includes('not_found') && !route.errors.includes('not_found') ? PROBLEM : apiGroupOf(route.path).failure
}
