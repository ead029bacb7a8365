import { appendFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { inject } from 'vitest'
import { ERRORS, type ErrorCode } from '../../lib/errors.ts'
import { errorsOf, openApiRoutes } from '../../lib/http/openapi.ts'
import type { AnyRoute } from '../../lib/http/route.ts'
import { routes } from '../../lib/http/routes.ts'

/** Every route, those of the OpenAPI document included. */
export const allRoutes: [name: string, route: AnyRoute][] = Object.entries<AnyRoute>({ ...routes, ...openApiRoutes })

const patterns = allRoutes.map(([name, route]) => ({
  name,
  route,
  pattern: new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`),
}))

/**
 * A `fetch` that holds every answer against what its route promises: status, headers, the shape of the body with
 * nothing beside it, and only error codes that are declared.
 */
export const checkedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  await checkAnswer(init?.method ?? 'GET', new URL(String(input)).pathname, response)
  return response
}

/** @throws Error that says what the answer should not be */
export async function checkAnswer(method: string, path: string, response: Response): Promise<void> {
  const where = `${method} ${path} answered ${response.status}`
  const demand = (holds: boolean, message: string) => {
    if (!holds) throw new Error(`${where}: ${message}`)
  }
  demand(/^[\w.-]{8,64}$/.test(response.headers.get('x-request-id') ?? ''), 'no X-Request-Id')
  demand(response.headers.get('x-content-type-options') === 'nosniff', 'no nosniff')
  if (path.startsWith('/api/'))
    demand(response.headers.get('cache-control') === 'no-store', 'no Cache-Control: no-store')

  const found = patterns.find((each) => each.pattern.test(path) && each.route.method === method)
  if (!response.ok) return checkProblem(response, found?.route, demand)
  if (!found) return demand(method === 'HEAD' || method === 'OPTIONS', 'no route promises success')

  const { name, route } = found
  demand(response.status === route.status, `the route promises ${route.status}`)
  appendFileSync(inject('answered_routes'), `${name}\n`)
  if (route.answer === 'stream' || route.answer === 'text' || route.status === 204 || !route.output) return
  const body = await response.clone().json()
  const parsed = v.safeParse(route.output, body)
  demand(
    parsed.success,
    `the body is not of the promised shape: ${JSON.stringify(parsed.issues?.map((issue) => [v.getDotPath(issue), issue.message]))}`,
  )
  demand(isDeepStrictEqual(parsed.output, body), `the body holds more than promised: ${JSON.stringify(body)}`)
}

async function checkProblem(
  response: Response,
  route: AnyRoute | undefined,
  demand: (holds: boolean, message: string) => void,
): Promise<void> {
  demand(response.headers.get('content-type') === 'application/problem+json', 'not a problem document')
  const body = (await response
    .clone()
    .json()
    .catch(() => ({}))) as { code: ErrorCode; status: number; type: string; request_id: string }
  demand(
    body.code in ERRORS && ERRORS[body.code][0] === response.status && body.status === response.status,
    `code ${body.code} with this status`,
  )
  demand(
    body.type === `urn:chat-server:problem:${body.code}` && body.request_id === response.headers.get('x-request-id'),
    'type or request id',
  )
  const common: ErrorCode[] = ['not_found', 'method_not_allowed']
  demand([...common, ...(route ? errorsOf(route) : [])].includes(body.code), `code ${body.code} is not declared`)
  demand(!/\bat .*:\d+:\d+|SELECT |INSERT |UPDATE |\/lib\//.test(JSON.stringify(body)), 'the body shows the inside')
}
