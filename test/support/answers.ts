import { appendFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { inject } from 'vitest'
import { readEvents } from '../../lib/client/event-stream.ts'
import { type ErrorCode, STATUSES } from '../../lib/core/errors.ts'
import { isEventStream } from '../../lib/core/sse-format.ts'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { errorsOf } from '../../lib/http/openapi/errors.ts'
import { Problem } from '../../lib/http/response/error-shapes.ts'
import { CompatFailure } from '../../lib/openai-api/schema.ts'
import { allRoutes } from './all-routes.ts'
import { headerProblems } from './documented-headers.ts'

const patterns = allRoutes.map(([name, route]) => ({
  name,
  route,
  pattern: new RegExp(`^${route.path.replace(/\{\w+\}/g, route.takes_rest ? '.+' : '[^/]+')}$`),
}))

/**
 * A `fetch` that checks every response against its route: status, headers, the shape of the body without additional
 * fields, and the declared error codes.
 */
export const checkedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  await checkAnswer(init?.method ?? 'GET', new URL(String(input)).pathname, response)
  return response
}

/** @throws Error with the difference */
export async function checkAnswer(method: string, path: string, response: Response): Promise<void> {
  const where = `${method} ${path} answered ${response.status}`
  const demand = (holds: boolean, message: string) => {
    if (!holds) throw new Error(`${where}: ${message}`)
  }
  demand(/^[\w.-]{8,64}$/.test(response.headers.get('x-request-id') ?? ''), 'no X-Request-Id')
  demand(response.headers.get('x-content-type-options') === 'nosniff', 'no nosniff')
  for (const name of ['content-security-policy', 'referrer-policy', 'cross-origin-resource-policy'])
    demand(response.headers.has(name), `no ${name}`)
  if (
    path.startsWith('/api/') &&
    (response.status >= 400 || !/\/(content|thumbnail)$|^\/api\/(files|avatars)\//.test(path))
  )
    demand(/^no-store\b/.test(response.headers.get('cache-control') ?? ''), 'no Cache-Control: no-store')

  const found = patterns.find((each) => each.route.method === method && each.pattern.test(path))
  const problems = found ? headerProblems(found.route, response) : []
  demand(problems.length === 0, problems.join(', '))
  if (response.status === 303 && found?.route.answer === 'redirect') {
    demand(response.headers.get('x-session-rotated') === '1' && response.headers.has('location'), 'leads nowhere')
    noteAnswer(found.name, response)
    return
  }
  if (!response.ok && response.status !== 304) return checkFailure(path, response, found?.route, demand)
  if (!found) return demand(method === 'HEAD' || method === 'OPTIONS', 'no route promises success')

  const { name, route } = found
  const statuses = [
    route.text_if_empty === undefined ? undefined : 200,
    route.status,
    route.status_unless_created,
    route.status_if_empty,
    ...(route.file_statuses ?? []),
  ]
  demand(statuses.includes(response.status), `the route promises ${route.status}`)
  noteAnswer(name, response)
  if (
    route.answer === 'stream' ||
    route.answer === 'text' ||
    route.answer === 'document' ||
    route.answer === 'file' ||
    response.status === 204 ||
    (route.text_if_empty !== undefined && response.status === 200) ||
    !route.output
  )
    return
  // A test reads such a stream as it comes, and checks its frames.
  if ((route.is_protocol || route.answer === 'frames') && isEventStream(response)) return
  if (route.pieces && isEventStream(response)) return checkPieces(response, route.pieces, demand)
  checkShape(await response.clone().json(), route.output, demand)
}

const noted = new Set<string>()

/** For the end of the run: the routes that returned success, and their headers. */
function noteAnswer(name: string, { status, headers }: Response): void {
  const line = `${name} ${status} ${[...headers.keys()].join(' ')}\n`
  if (noted.has(line)) return
  noted.add(line)
  appendFileSync(inject('answered_routes'), line)
}

type Demand = (holds: boolean, message: string) => void

/** Checks a body against its schema, without additional fields. */
function checkShape(body: unknown, schema: v.GenericSchema, demand: Demand): void {
  const parsed = v.safeParse(schema, body)
  demand(
    parsed.success,
    `the body is not of the promised shape: ${JSON.stringify(parsed.issues?.map((issue) => [v.getDotPath(issue), issue.message]))}`,
  )
  demand(isDeepStrictEqual(parsed.output, body), `the body holds more than promised: ${JSON.stringify(body)}`)
}

async function checkPieces(response: Response, schema: v.GenericSchema, demand: Demand): Promise<void> {
  const pieces: string[] = []
  for await (const { data } of readEvents(response.clone().body!)) pieces.push(data)
  demand(pieces.pop() === '[DONE]', 'the stream does not end with [DONE]')
  for (const piece of pieces) checkShape(JSON.parse(piece), schema, demand)
}

/** The code of a failure, in either format. */
export async function readFailure(response: Response): Promise<{ code: ErrorCode; errors?: { path: string }[] }> {
  return failureIn(await response.json())
}

function failureIn(body: v.InferOutput<typeof Problem> | CompatFailure): {
  code: ErrorCode
  errors?: { path: string }[]
} {
  if ('error' in body) return { code: body.error.code as ErrorCode, errors: [{ path: body.error.param ?? '' }] }
  return { code: body.code as ErrorCode, ...(body.errors && { errors: body.errors }) }
}

async function checkFailure(
  path: string,
  response: Response,
  route: AnyRoute | undefined,
  demand: Demand,
): Promise<void> {
  const text = await response.clone().text()
  const body = parseJson(text)
  demand(typeof body === 'object' && body !== null, 'no JSON')
  const { code } = failureIn(body)
  demand(code in STATUSES && STATUSES[code] === response.status, `code ${code} with this status`)
  if (/^\/v1(\/|$)/.test(path)) checkCompatFailure(response, body, demand)
  else checkProblem(response, body, demand)
  const common: ErrorCode[] = ['bad_request', 'not_found', 'method_not_allowed']
  demand([...common, ...(route ? errorsOf(route) : [])].includes(code), `code ${code} is not declared`)
  demand(!/\bat .*:\d+:\d+|SELECT |INSERT |UPDATE |\/lib\//.test(text), 'the body shows the inside')
}

function parseJson(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function checkProblem(response: Response, body: v.InferOutput<typeof Problem>, demand: Demand): void {
  demand(response.headers.get('content-type') === 'application/problem+json', 'not a problem document')
  checkShape(body, Problem, demand)
  demand(body.status === response.status, 'another status in the body')
  demand(
    body.type === `urn:chat-server:problem:${body.code}` && body.request_id === response.headers.get('x-request-id'),
    'type or request id',
  )
}

function checkCompatFailure(response: Response, body: CompatFailure, demand: Demand): void {
  demand(response.headers.get('content-type') === 'application/json', 'not a failure as of OpenAI')
  checkShape(body, CompatFailure, demand)
  demand(body.error.type === (response.status < 500 ? 'invalid_request_error' : 'server_error'), 'another type')
}
