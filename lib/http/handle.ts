import type { IncomingMessage, ServerResponse } from 'node:http'
import type { H3Event } from 'h3'
import type { FileAnswer } from '../chat/attachments/content.ts'
import type { Opening } from '../chat/events/service.ts'
import { contextOf } from '../core/context-of.ts'
import { ChatError } from '../core/errors.ts'
import { readCookies } from '../core/headers.ts'
import type { AnyRoute } from '../endpoint.ts'
import type { Method } from '../endpoint-kinds.ts'
import { refusalOf } from '../metrics/registry.ts'
import type { Chat } from '../service.ts'
import { type ApiGroup, apiGroupOf } from './api-groups.ts'
import { type Incoming, perform } from './call.ts'
import type { StreamWrites } from './node/stream-writes.ts'
import type { ClientReader } from './request/client-address.ts'
import { bearsToken } from './request/csrf.ts'
import { isPlainlySpelled, statusOfMalformedEvent } from './request/malformed.ts'
import type { Openings } from './request/openings.ts'
import { limitHeaders } from './request/rate-limit.ts'
import type { ChunkStreams } from './response/chunk-streams.ts'
import { PROBLEM } from './response/error-shapes.ts'
import { type BegunFile, beginFile, fileHeaders, sendFile } from './response/files.ts'
import { type CommonHeaders, type HeaderPair, toRequestId } from './response/headers.ts'
import { type Redirect, refusePrefetch, toRedirect } from './response/redirect.ts'
import { type RequestEntry, type RequestLog, untilEnd } from './response/request-log.ts'
import { openStream, send } from './response/send.ts'
import { deadCookies, type Reply, serialize, toChatError, toFailure } from './response/serialize.ts'
import { streamHeaders } from './response/sse.ts'
import { type StallWatch, waitForTurn } from './response/stalls.ts'

/** The routes of one path, by method; without a route, another part of the service responds to that method. */
export type Resource = Partial<Record<Method, CountedRoute | undefined>>

/** A route, and the counter of its responses if they are counted. */
export interface CountedRoute {
  route: AnyRoute
  count?: (status: number, seconds: number | undefined) => void
}

/** What every request is handled with. */
export interface Service {
  chat: Chat
  headers: CommonHeaders
  clientOf: ClientReader
  requestLog: RequestLog
  chunk_streams: ChunkStreams
  stream_writes: StreamWrites
  openings: Openings
  stalls: StallWatch
}

/** A request that is being handled. */
interface Exchange {
  stalls: StallWatch
  event: H3Event
  /** The template of its path, or the prefix of its API group. */
  path: string
  endpoint: CountedRoute | undefined
  request_id: string
  cookies: ReadonlyMap<string, string>
  /** The headers of every response to it; the limits add theirs. A reply has its own in addition. */
  headers: HeaderPair[]
  /** The cookies that the login of the host sets with the response. */
  set_cookie: string[]
  /** The user and the server key, once authenticated. */
  caller: Pick<RequestEntry, 'user_id' | 'server_key'>
  /** Counts and logs it; a stream when it ends. */
  count(status: number): void
  tell(status: number): void
}

/** Handles a request for one path, whatever the outcome. */
export async function handle(service: Service, path: string, resource: Resource, event: H3Event): Promise<unknown> {
  const group = apiGroupOf(path)
  const isServed = group.isServed?.(contextOf(service.chat).config) ?? true
  const exchange = begin(service, path, group, resource, event)
  const turn = waitForTurn(responseOf(event))
  // As proxies log a request whose client has closed the connection: nothing is done for it.
  if (turn && !(await turn)) return end(exchange, { status: 499, headers: [], body: null })
  contextOf(service.chat).load.arrived()
  const kind = exchange.endpoint?.route.answer
  if (kind === 'stream' || kind === 'frames') await service.openings.turn()
  try {
    const refusal = statusOfMalformedEvent(event)
    if (refusal) return end(exchange, { status: refusal, headers: [['connection', 'close']], body: null })
    const isRoot = path === '/' || (path === '/**' && !event.context.params?._)
    if (!isPlainlySpelled(event, isRoot)) throw new ChatError('bad_request')
    // A method that the path never has is refused as such, also while the path is off.
    if (!isServed && exchange.endpoint) throw new ChatError('not_found')
    if (exchange.endpoint) return await call(service, exchange, exchange.endpoint)
    return end(exchange, withoutRoute(service, resource, exchange))
  } catch (caught) {
    const error = toChatError(caught)
    explain(service, exchange, error, caught)
    const isOfGroup = isServed || error.code === 'method_not_allowed'
    const failure = toFailure(error, isOfGroup ? group.failure : PROBLEM, exchange.request_id)
    const cookies = deadCookies(error, contextOf(service.chat).config, exchange.cookies)
    return end(exchange, { ...failure, cookies })
  }
}

/** Counts and logs a response as it is sent, once it is complete: creating it may fail, too. */
function end(exchange: Exchange, reply: Reply): unknown {
  exchange.count(reply.status)
  exchange.tell(reply.status)
  const response = responseOf(exchange.event)
  if (response) exchange.stalls.watch(response)
  const { status, body } = reply
  const cookies = [...exchange.set_cookie, ...(reply.cookies ?? [])]
  return send(exchange.event, { status, headers: [...exchange.headers, ...reply.headers], cookies, body })
}

/** Counts and logs a response with a file, whose bytes follow as they are read. */
function endFile(exchange: Exchange, file: BegunFile): unknown {
  exchange.count(file.status)
  exchange.tell(file.status)
  const response = responseOf(exchange.event)
  if (response) exchange.stalls.watch(response)
  for (const cookie of exchange.set_cookie) response?.appendHeader('set-cookie', cookie)
  const lines = response ? [] : exchange.set_cookie.map((cookie): HeaderPair => ['set-cookie', cookie])
  return sendFile(exchange.event, [...fileHeaders(exchange.headers, file), ...lines], file)
}

/** Node's response, on Node. */
export function responseOf({ runtime }: H3Event): ServerResponse | undefined {
  return runtime?.node?.res as ServerResponse | undefined
}

function begin(service: Service, path: string, group: ApiGroup, resource: Resource, event: H3Event): Exchange {
  const started = performance.now()
  const { method, headers } = event.req
  const request_id = toRequestId(headers)
  const endpoint = resource[(method === 'HEAD' ? 'GET' : method) as Method]
  // The path of an unknown route is not logged as it was sent.
  const route = Object.keys(resource).length > 0 ? path : undefined
  // What an open stream keeps for its log line: not the exchange, and nothing of the request but its method.
  const caller: Exchange['caller'] = { user_id: undefined, server_key: undefined }
  const { requestLog } = service
  return {
    stalls: service.stalls,
    event,
    path,
    endpoint,
    request_id,
    cookies: readCookies(headers.get('cookie')),
    headers: [...service.headers.of(request_id, headers.get('origin'), bearing(event, resource)), ...group.headers],
    set_cookie: [],
    caller,
    count: (status) =>
      endpoint?.count?.(status, endpoint.route.waits ? undefined : (performance.now() - started) / 1000),
    tell(status) {
      const ms = performance.now() - started
      requestLog(endpoint?.route, { request_id, method, route, status, ms, ...caller })
    },
  }
}

/** Made here: a closure in `begin` would keep the event for as long as that of its log line lives, which is an open stream. */
function bearing({ req, url }: H3Event, resource: Resource): () => boolean {
  return () => mayBeCookieless(resource) || bearsToken(req, url.search)
}

/** Whether a page that may call with a token may call here without one. */
function mayBeCookieless({ POST }: Resource): boolean {
  return POST?.route.is_cookieless !== undefined
}

/** The request as the login of a host gets it. */
export function givenOf({ req, runtime }: H3Event): Incoming['given'] {
  const node = runtime?.node
  // Not the event: a stream keeps this for as long as it is open.
  return node?.res ? { request: req, node: { req: node.req, res: node.res } as NodePair } : { request: req }
}

/** Aborted when the client has disconnected. On Node also once the response is sent, when nothing waits for it any more. */
export function goneSignal(event: H3Event): AbortSignal {
  const response = responseOf(event)
  if (!response) return event.req.signal
  const controller = new AbortController()
  if (response.destroyed) controller.abort()
  else response.once('close', () => controller.abort())
  return controller.signal
}

type NodePair = NonNullable<Incoming['given']['node']>

/** The response of a route. */
async function call(
  { chat, clientOf, chunk_streams, stream_writes, openings }: Service,
  exchange: Exchange,
  { route, count }: CountedRoute,
): Promise<unknown> {
  const { event, cookies } = exchange
  const { method, headers } = event.req
  if (route.answer === 'redirect') {
    if (method === 'HEAD') return end(exchange, { status: 200, headers: [], body: null })
    refusePrefetch(headers)
  }
  const address = clientOf(event.req)
  const { outcome, actor, limit_result, set_cookie } = await perform(chat, route, {
    method,
    headers: route.answer === 'file' && method === 'HEAD' ? withoutRange(headers) : headers,
    cookies,
    params: event.context.params ?? {},
    search: event.url.search,
    url: event.url,
    body: (event.runtime?.node?.req as IncomingMessage | undefined) ?? event.req.body,
    given: givenOf(event),
    // What has no body is not waited for.
    gone: () => (method === 'HEAD' ? AbortSignal.abort() : goneSignal(event)),
    isGone: () => event.runtime?.node?.res?.destroyed ?? false,
    turn: openings.turn,
    ip: address,
  })
  exchange.caller.user_id = actor?.user_id || undefined
  exchange.caller.server_key = actor?.server_key
  if (set_cookie) exchange.set_cookie.push(...set_cookie)
  if (limit_result) {
    exchange.headers.push(...limitHeaders(limit_result))
    if (count) contextOf(chat).metrics.limited(limit_result.profile, limit_result.allowed)
  }
  if ('error' in outcome) throw outcome.error
  const { result } = outcome
  if (route.answer === 'stream' || isOpening(result)) {
    const { status } = route
    exchange.count(status)
    const opening = untilEnd(result as Opening, exchange.tell.bind(undefined, status))
    const headers = streamHeaders(exchange.headers, opening.headers)
    return openStream(event, headers, exchange.set_cookie, opening, stream_writes)
  }
  if (route.answer === 'file') return endFile(exchange, await beginFile(event, result as FileAnswer))
  if (route.answer === 'redirect') return end(exchange, toRedirect(chat, route, result as Redirect, headers))
  if (route.pieces && result instanceof Object && Symbol.iterator in result) {
    const body = chunk_streams.begin(result as Iterable<unknown>, address)
    exchange.headers = streamHeaders(exchange.headers)
    return end(exchange, { status: route.status, headers: [], body })
  }
  return end(exchange, serialize(chat, route, result))
}

/** Whether a call that may return JSON or a stream returns the stream. */
const isOpening = (result: unknown): result is Opening => typeof (Object(result) as Opening).connect === 'function'

/** Only GET has ranges (RFC 9110, section 14.2). */
function withoutRange(headers: Headers): Headers {
  const others = new Headers(headers)
  others.delete('range')
  return others
}

/** Logs what the caller does not get: the cause of a bug or a storage failure; counts the latter. */
function explain({ chat }: Service, { request_id, path }: Exchange, error: ChatError, caught: unknown): void {
  const { log, metrics } = contextOf(chat)
  const refusal = refusalOf(error)
  if (refusal) metrics.requestFailed(refusal)
  if (error.code === 'internal') log.error('Request failed', { request_id, route: path, cause: stackOf(caught) })
  else if (error.status >= 500 && error.cause)
    log.warn('Request failed because of the storage', { request_id, route: path, cause: String(error.cause) })
}

/**
 * The response to an unsupported method, and to a CORS preflight.
 *
 * @throws ChatError `not_found`, `method_not_allowed`
 */
function withoutRoute(service: Service, resource: Resource, { event, headers }: Exchange): Reply {
  const { method, headers: requestHeaders } = event.req
  const methods = Object.keys(resource)
  if (methods.length === 0) throw new ChatError('not_found')
  if (method === 'OPTIONS' && requestHeaders.has('access-control-request-method'))
    headers.push(
      ...service.headers.preflight(
        requestHeaders.get('origin'),
        methods,
        () => mayBeCookieless(resource) || bearsToken(event.req, ''),
      ),
    )
  if (methods.includes('GET')) methods.push('HEAD')
  headers.push(['allow', [...methods, 'OPTIONS'].sort().join(', ')])
  if (method !== 'OPTIONS') throw new ChatError('method_not_allowed')
  return { status: 204, headers: [], body: null }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
