import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { fromNodeHandler, H3, type H3Event, HTTPResponse } from 'h3'
import { toNodeHandler } from 'h3/node'
import type { Chat } from '../chat.ts'
import { ChatError } from '../errors.ts'
import type { Opening } from '../events/service.ts'
import type { Metrics } from '../ops/metrics.ts'
import { perform } from './call.ts'
import { type AddressReader, createAddressReader } from './client-address.ts'
import { PROBLEM } from './failure.ts'
import { type CommonHeaders, createCommonHeaders } from './headers.ts'
import { limitHeaders } from './limit.ts'
import { answerUnread, hasUnreadBody } from './linger.ts'
import { refusalOf } from './malformed.ts'
import { openApiRoutes } from './openapi.ts'
import { type Redirect, refusePrefetch, toRedirect } from './redirect.ts'
import { deadCookies, type Reply, toChatError, toFailure, toReply } from './reply.ts'
import { createRequestLog, type RequestLog, untilEnd } from './request-log.ts'
import type { AnyRoute, Method } from './route.ts'
import { routes } from './routes.ts'
import { streamHeaders, streamToNode, streamToWeb } from './sse.ts'
import { SURFACES, surfaceOf } from './surface.ts'

/** An h3 app, as far as a host needs to know it. It can be mounted under a base path of another one. */
export interface ChatApp {
  fetch(request: Request): Response | Promise<Response>
}

/** The routes of one path, by method. */
type Resource = Partial<Record<Method, Endpoint>>

/** A route, and what counts its answers where that is done. */
interface Endpoint {
  route: AnyRoute
  count?: (status: number, seconds: number) => void
}

/** The service over HTTP: `.fetch(Request)` for any web runtime, `createNodeHandler` for Node. */
export function createChatApp(chat: Chat): ChatApp {
  // The URL of a malformed path is an unknown one; everything else that goes wrong, we answer ourselves.
  const app = new H3({ allowMalformedURL: true, silent: true })
  const addressOf = createAddressReader(chat.context.config.server.trusted_proxies)
  const { config, log, metrics } = chat.context
  const requestLog = createRequestLog(config, log)
  const service = { chat, headers: createCommonHeaders(config), addressOf, requestLog }
  for (const [path, resource] of resources(metrics)) {
    app.all(patternOf(path, resource), (event) => answer(service, path, resource, event))
  }
  for (const { prefix } of SURFACES) app.all(`${prefix}/**`, (event) => answer(service, `${prefix}/**`, {}, event))
  return app
}

/** The service as a listener of `node:http`. */
export function createNodeHandler(app: ChatApp): (request: IncomingMessage, response: ServerResponse) => void {
  const handle = toNodeHandler(app as H3)
  return (request, response) => {
    const refusal = refusalOf(request)
    if (refusal === undefined) handle(request, response)
    else response.writeHead(refusal, { connection: 'close' }).end()
  }
}

function resources(metrics: Metrics): Map<string, Resource> {
  const byPath = new Map<string, Resource>()
  for (const route of Object.values<AnyRoute>({ ...routes, ...openApiRoutes })) {
    const endpoint: Endpoint = { route, ...(!isPrivate(route) && { count: metrics.route(route.method, route.path) }) }
    byPath.set(route.path, { ...byPath.get(route.path), [route.method]: endpoint })
  }
  return byPath
}

/** A path as the router writes it. */
function patternOf(path: string, resource: Resource): string {
  const takesRest = Object.values(resource).some(({ route }) => route.takes_rest)
  return path.replaceAll(/\{(\w+)\}/g, takesRest ? '**:$1' : ':$1')
}

/** The parameters of the path. The router has taken a slash off the end, which some would then match without. */
function paramsOf({ takes_rest }: AnyRoute, { context, url }: H3Event): Record<string, string> {
  const { params = {} } = context
  if (!takes_rest || !url.pathname.endsWith('/')) return params
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, `${value}/`]))
}

/** What all answers are made with. */
interface Service {
  chat: Chat
  headers: CommonHeaders
  addressOf: AddressReader
  requestLog: RequestLog
}

async function answer(service: Service, path: string, resource: Resource, event: H3Event): Promise<unknown> {
  const { chat, addressOf } = service
  const { config, log, metrics } = chat.context
  const started = performance.now()
  const { method, headers } = event.req
  const requestId = /^[\w.-]{8,64}$/.exec(headers.get('x-request-id') ?? '')?.[0] ?? randomUUID()
  const surface = surfaceOf(path)
  const isServed = surface.isServed?.(config) ?? true
  const common = [...service.headers.of(requestId, headers.get('origin')), ...surface.headers]
  const endpoint = resource[(method === 'HEAD' ? 'GET' : method) as Method]
  const route = endpoint?.route
  // A path that no route has is not told as it was sent.
  const template = Object.keys(resource).length > 0 ? path : undefined
  let user_id: string | undefined
  const tell = (status: number) => {
    const ms = performance.now() - started
    service.requestLog(route, { request_id: requestId, method, route: template, status, ms, user_id })
  }
  const count = (status: number) => endpoint?.count?.(status, (performance.now() - started) / 1000)
  try {
    if (!isServed) throw new ChatError('not_found')
    if (!route) {
      const reply = withoutRoute(service, resource, event.req, common)
      tell(reply.status)
      return respond(event, reply)
    }
    if (route.answer === 'redirect') {
      if (method === 'HEAD') return respond(event, { status: 200, headers: common, body: null })
      refusePrefetch(headers)
    }
    const result = await perform(chat, route, {
      method,
      headers,
      params: paramsOf(route, event),
      search: event.url.search,
      url: event.url,
      body: (event.runtime?.node?.req as IncomingMessage | undefined) ?? event.req.body,
      isGone: () => event.runtime?.node?.res?.destroyed ?? false,
      ip: addressOf(event.req.ip, headers.get('x-forwarded-for')),
      called: (actor) => (user_id = actor.user_id),
      limited(verdict) {
        common.push(...limitHeaders(verdict))
        if (endpoint.count) metrics.limited(verdict.profile, verdict.allowed)
      },
    })
    count(route.status)
    if (route.answer === 'stream')
      return openStream(
        event,
        streamHeaders(common),
        untilEnd(result as Opening, () => tell(route.status)),
      )
    tell(route.status)
    if (route.answer === 'redirect') return respond(event, toRedirect(chat, route, result as Redirect, common, headers))
    return respond(event, toReply(chat, route, result, common))
  } catch (caught) {
    const error = toChatError(caught)
    if (error.code === 'internal')
      log.error('Request failed', { request_id: requestId, route: path, cause: describe(caught) })
    else if (error.status >= 500 && error.cause)
      log.warn('Request failed for want of the storage', {
        request_id: requestId,
        route: path,
        cause: String(error.cause),
      })
    count(error.status)
    tell(error.status)
    const failure = toFailure(error, isServed ? surface.failure : PROBLEM, requestId, common)
    return respond(event, { ...failure, cookies: deadCookies(error, config, headers) })
  }
}

/** Nothing is counted that says who signs in, and how often it fails (interface: Events). */
function isPrivate(route: AnyRoute): boolean {
  return route.tag === 'Setup' || route.tag === 'Authentication' || route.answer === 'session'
}

/**
 * The answer to a method nobody serves, and to a browser that asks what a page may send (a CORS preflight).
 *
 * @throws ChatError `not_found`, `method_not_allowed`
 */
function withoutRoute(
  service: Service,
  resource: Resource,
  { method, headers: asked }: Pick<Request, 'method' | 'headers'>,
  headers: [string, string][],
): Reply {
  const methods = Object.keys(resource)
  if (methods.length === 0) throw new ChatError('not_found')
  if (method === 'OPTIONS' && asked.has('access-control-request-method'))
    headers.push(...service.headers.preflight(asked.get('origin'), methods))
  if (methods.includes('GET')) methods.push('HEAD')
  headers.push(['allow', [...methods, 'OPTIONS'].sort().join(', ')])
  if (method !== 'OPTIONS') throw new ChatError('method_not_allowed')
  return { status: 204, headers, body: null }
}

function openStream(event: H3Event, headers: [string, string][], opening: Opening): unknown {
  if (event.req.method === 'HEAD') {
    opening.cancel()
    return respond(event, { status: 200, headers, body: null })
  }
  if (!event.runtime?.node?.res) return streamToWeb(headers, opening)
  return fromNodeHandler((_request, response) => streamToNode(response as ServerResponse, headers, opening))(event)
}

/** An answer whose headers stay the pairs they are: on Node nothing needs a `Headers` of them. */
class Answer extends HTTPResponse {
  readonly #pairs: [string, string][]

  constructor({ status, headers, body }: Reply) {
    super(body as BodyInit | null, { status })
    this.#pairs = headers
  }

  override get headers(): Headers {
    return this.#pairs as unknown as Headers
  }
}

function respond(event: H3Event, { cookies = [], ...reply }: Reply): unknown {
  const response = event.runtime?.node?.res as ServerResponse | undefined
  for (const cookie of cookies) {
    // Node 20 keeps only the last of several cookies in a list, where a host has set a header before.
    if (response) response.appendHeader('set-cookie', cookie)
    else reply.headers.push(['set-cookie', cookie])
  }
  if (response && hasUnreadBody(response.req)) return fromNodeHandler(() => answerUnread(response, reply))(event)
  return new Answer(reply)
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
