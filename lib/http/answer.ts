import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { H3Event } from 'h3'
import type { Opening } from '../chat/events/service.ts'
import { contextOf } from '../core/context-of.ts'
import { ChatError } from '../core/errors.ts'
import { readCookies } from '../core/headers.ts'
import type { AnyRoute, Method } from '../endpoint.ts'
import type { Chat } from '../service.ts'
import { perform } from './call.ts'
import type { ClientReader } from './client-address.ts'
import { PROBLEM } from './failure.ts'
import type { CommonHeaders } from './headers.ts'
import { limitHeaders } from './limit.ts'
import { isPlainlySpelled, refusalOfEvent } from './malformed.ts'
import type { PieceStreams } from './pieces.ts'
import { type Redirect, refusePrefetch, toRedirect } from './redirect.ts'
import { deadCookies, type Header, type Reply, toChatError, toFailure, toReply } from './reply.ts'
import { type RequestLog, untilEnd } from './request-log.ts'
import { openStream, respond } from './respond.ts'
import { STREAM_HEADERS } from './sse.ts'
import { type StallWatch, turnOf } from './stalls.ts'
import { surfaceOf } from './surface.ts'

/** The routes of one path, by method. */
export type Resource = Partial<Record<Method, Endpoint>>

/** A route, and what counts its answers where that is done. */
export interface Endpoint {
  route: AnyRoute
  count?: (status: number, seconds: number) => void
}

/** What all answers are made with. */
export interface Service {
  chat: Chat
  headers: CommonHeaders
  clientOf: ClientReader
  requestLog: RequestLog
  pieces: PieceStreams
  stalls: StallWatch
}

/** A request on its way to an answer. */
interface Exchange {
  stalls: StallWatch
  event: H3Event
  /** The template of its path, or the prefix it is under. */
  path: string
  endpoint: Endpoint | undefined
  request_id: string
  cookies: ReadonlyMap<string, string>
  /** What every answer to it carries; the limits add theirs. A reply has its own beside them. */
  headers: Header[]
  /** Who turned out to call. */
  user_id: string | undefined
  /** Counts it and tells the log of it; of a stream, when that ends. */
  count(status: number): void
  tell(status: number): void
}

/** Answers a request of one path, whatever comes of it. */
export async function answer(service: Service, path: string, resource: Resource, event: H3Event): Promise<unknown> {
  const surface = surfaceOf(path)
  const isServed = surface.isServed?.(contextOf(service.chat).config) ?? true
  const exchange = begin(service, path, resource, event)
  await turnOf(responseOf(event))
  try {
    const refusal = refusalOfEvent(event)
    if (refusal) return end(exchange, { status: refusal, headers: [['connection', 'close']], body: null })
    const isRoot = path === '/**' && !event.context.params?._
    if (!isPlainlySpelled(event, isRoot)) throw new ChatError('bad_request')
    if (!isServed && !isUnheardOf(resource, exchange)) throw new ChatError('not_found')
    if (exchange.endpoint) return await call(service, exchange, exchange.endpoint)
    return end(exchange, withoutRoute(service, resource, exchange))
  } catch (caught) {
    const error = toChatError(caught)
    explain(service, exchange, error, caught)
    const failure = toFailure(error, isServed ? surface.failure : PROBLEM, exchange.request_id)
    const cookies = deadCookies(error, contextOf(service.chat).config, exchange.cookies)
    return end(exchange, { ...failure, cookies })
  }
}

/** Methods that any path may have; what is switched off has none of them. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Whether the path is one of ours, and the method one that no path of ours has, switched off or not. */
function isUnheardOf(resource: Resource, { event }: Exchange): boolean {
  return Object.keys(resource).length > 0 && !METHODS.includes(event.req.method)
}

/** Counts and tells an answer as it goes out, once it is made: making it may fail, too. */
function end(exchange: Exchange, reply: Reply): unknown {
  exchange.count(reply.status)
  exchange.tell(reply.status)
  const response = responseOf(exchange.event)
  if (response) exchange.stalls.watch(response)
  return respond(exchange.event, { ...reply, headers: [...exchange.headers, ...reply.headers] })
}

/** What Node answers with, where it is Node that does. */
function responseOf({ runtime }: H3Event): ServerResponse | undefined {
  return runtime?.node?.res as ServerResponse | undefined
}

function begin(service: Service, path: string, resource: Resource, event: H3Event): Exchange {
  const started = performance.now()
  const { method, headers } = event.req
  const request_id = /^[\w.-]{8,64}$/.exec(headers.get('x-request-id') ?? '')?.[0] ?? randomUUID()
  const endpoint = resource[(method === 'HEAD' ? 'GET' : method) as Method]
  // A path that no route has is not told as it was sent.
  const route = Object.keys(resource).length > 0 ? path : undefined
  const exchange: Exchange = {
    stalls: service.stalls,
    event,
    path,
    endpoint,
    request_id,
    cookies: readCookies(headers.get('cookie')),
    headers: [...service.headers.of(request_id, headers.get('origin')), ...surfaceOf(path).headers],
    user_id: undefined,
    count: (status) => endpoint?.count?.(status, (performance.now() - started) / 1000),
    tell(status) {
      const { user_id } = exchange
      const ms = performance.now() - started
      service.requestLog(endpoint?.route, { request_id, method, route, status, ms, user_id })
    },
  }
  return exchange
}

/** The answer of a route. */
async function call(
  { chat, clientOf, pieces }: Service,
  exchange: Exchange,
  { route, count }: Endpoint,
): Promise<unknown> {
  const { event, cookies } = exchange
  const { method, headers } = event.req
  if (route.answer === 'redirect') {
    if (method === 'HEAD') return end(exchange, { status: 200, headers: [], body: null })
    refusePrefetch(headers)
  }
  const address = clientOf(event.req)
  const { outcome, actor, verdict } = await perform(chat, route, {
    method,
    headers,
    cookies,
    params: event.context.params ?? {},
    search: event.url.search,
    url: event.url,
    body: (event.runtime?.node?.req as IncomingMessage | undefined) ?? event.req.body,
    isGone: () => event.runtime?.node?.res?.destroyed ?? false,
    ip: address,
  })
  exchange.user_id = actor?.user_id
  if (verdict) {
    exchange.headers.push(...limitHeaders(verdict))
    if (count) contextOf(chat).metrics.limited(verdict.profile, verdict.allowed)
  }
  if ('error' in outcome) throw outcome.error
  const { result } = outcome
  if (route.answer === 'stream') {
    const { status } = route
    exchange.count(status)
    const opening = untilEnd(result as Opening, () => exchange.tell(status))
    return openStream(event, [...exchange.headers, ...STREAM_HEADERS], opening)
  }
  if (route.answer === 'redirect') return end(exchange, toRedirect(chat, route, result as Redirect, headers))
  if (route.pieces && Symbol.iterator in (result as object)) {
    const body = pieces.begin(result as Iterable<unknown>, address)
    return end(exchange, { status: route.status, headers: STREAM_HEADERS, body })
  }
  return end(exchange, toReply(chat, route, result))
}

/** Writes down what nobody is told: why it is our failure, or the storage's. */
function explain({ chat }: Service, { request_id, path }: Exchange, error: ChatError, caught: unknown): void {
  const { log } = contextOf(chat)
  if (error.code === 'internal') log.error('Request failed', { request_id, route: path, cause: describe(caught) })
  else if (error.status >= 500 && error.cause)
    log.warn('Request failed for want of the storage', { request_id, route: path, cause: String(error.cause) })
}

/**
 * The answer to a method nobody serves, and to a browser that asks what a page may send (a CORS preflight).
 *
 * @throws ChatError `not_found`, `method_not_allowed`
 */
function withoutRoute(service: Service, resource: Resource, { event, headers }: Exchange): Reply {
  const { method, headers: asked } = event.req
  const methods = Object.keys(resource)
  if (methods.length === 0) throw new ChatError('not_found')
  if (method === 'OPTIONS' && asked.has('access-control-request-method'))
    headers.push(...service.headers.preflight(asked.get('origin'), methods))
  if (methods.includes('GET')) methods.push('HEAD')
  headers.push(['allow', [...methods, 'OPTIONS'].sort().join(', ')])
  if (method !== 'OPTIONS') throw new ChatError('method_not_allowed')
  return { status: 204, headers: [], body: null }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
