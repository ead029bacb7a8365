import type { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { resourceMetadataUrl } from '../../accounts/grants/metadata.ts'
import { contextOf } from '../../core/context-of.ts'
import { ChatError } from '../../core/errors.ts'
import { assertBodyAcceptable } from '../../core/json-body.ts'
import { assertStarted } from '../../core/lifecycle.ts'
import { readAccept } from '../../mcp/accept.ts'
import { answerMcp, type StreamedReply, type WholeReply } from '../../mcp/answer.ts'
import { RpcError, toRpcFailure } from '../../mcp/failures.ts'
import { BODY_LIMITS } from '../../mcp/handle.ts'
import { goneSignal, responseOf, type Service } from '../handle.ts'
import { bodyTimeout, readBody } from '../request/body.ts'
import { bearsToken, isForeign, isTokenOrigin } from '../request/csrf.ts'
import { isPlainlySpelled, statusOfMalformedEvent } from '../request/malformed.ts'
import { assertAllowed, limitHeaders, MCP_ENDPOINT } from '../request/rate-limit.ts'
import { type HeaderPair, toRequestId } from '../response/headers.ts'
import { type LoggedRoute, untilEnd } from '../response/request-log.ts'
import { openStream, send } from '../response/send.ts'
import { streamHeaders } from '../response/sse.ts'
import { waitForTurn } from '../response/stalls.ts'
import { type McpCaller, recogniseMcp } from './caller.ts'

/** Its calls may wait, which is no trouble. */
const LOGGED: LoggedRoute = { waits: true }

/** Adds the endpoint of MCP. */
export function addMcp(at: (path: string, respond: (event: H3Event) => unknown) => void, service: Service): void {
  const count = contextOf(service.chat).metrics.route(MCP_ENDPOINT.method, MCP_ENDPOINT.path)
  at(MCP_ENDPOINT.path, (event) => respond(service, count, event))
}

/** A request that is being answered. */
interface Exchange {
  event: H3Event
  request_id: string
  /** The headers of the response, besides its own. */
  headers: HeaderPair[]
  caller: McpCaller | undefined
  /** Counts and logs its response. */
  done(status: number): void
}

async function respond(
  service: Service,
  count: (status: number, seconds: number | undefined) => void,
  event: H3Event,
): Promise<unknown> {
  const ctx = contextOf(service.chat)
  const { method, headers } = event.req
  const started = performance.now()
  const request_id = toRequestId(headers)
  const exchange: Exchange = {
    event,
    request_id,
    headers: [
      ...service.headers.of(request_id, headers.get('origin'), () => bearsToken(event.req, '')).map(exposing),
      ['cache-control', 'no-store'],
    ],
    caller: undefined,
    done(status) {
      const { user_id, server_key } = exchange.caller?.actor ?? {}
      const ms = performance.now() - started
      count(status, undefined)
      service.requestLog(LOGGED, { request_id, method, route: MCP_ENDPOINT.path, status, ms, user_id, server_key })
    },
  }
  const turn = waitForTurn(responseOf(event))
  if (turn && !(await turn)) return end(exchange, { status: 499, headers: {}, body: undefined })
  ctx.load.arrived()
  const malformed = statusOfMalformedEvent(event)
  if (malformed) return end(exchange, { status: malformed, headers: { connection: 'close' }, body: undefined })
  try {
    if (method === 'OPTIONS') return end(exchange, preflight(service, exchange))
    const reply = await answer(service, exchange)
    return 'open' in reply ? open(service, exchange, reply) : end(exchange, reply)
  } catch (error) {
    if (!(error instanceof ChatError || error instanceof RpcError))
      ctx.log.error('Request failed', { request_id, route: MCP_ENDPOINT.path, cause: String(error) })
    const has_token = headers.get('authorization') !== null
    const failure = toRpcFailure(error, { request_id, has_token, metadata: resourceMetadataUrl(ctx.config) })
    return end(exchange, { ...failure, headers: { ...failure.headers, ...(failure.status === 405 && ALLOW) } })
  } finally {
    ctx.load.answered()
  }
}

const ALLOW = { allow: 'POST' }

/** Lets pages read how to get a token. */
const exposing = ([name, value]: HeaderPair): HeaderPair =>
  name === 'access-control-expose-headers' ? [name, `${value}, WWW-Authenticate`] : [name, value]

/** The headers of the protocol, which pages may send. */
const TAKEN = ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'Mcp-Session-Id']

/** Tells a browser which pages may call, and with what. */
function preflight({ headers }: Service, exchange: Exchange): WholeReply {
  const { req } = exchange.event
  if (!isPlainlySpelled(exchange.event, false)) throw new ChatError('bad_request')
  if (req.headers.has('access-control-request-method'))
    exchange.headers.push(...headers.preflight(req.headers.get('origin'), ['POST'], () => bearsToken(req, ''), TAKEN))
  return { status: 204, headers: { allow: 'OPTIONS, POST' }, body: undefined }
}

/** Checks a request in the order of every other one, and makes its call. */
async function answer(service: Service, exchange: Exchange): Promise<WholeReply | StreamedReply> {
  const { chat, clientOf } = service
  const ctx = contextOf(chat)
  const { event, request_id } = exchange
  const { headers } = event.req
  if (!isPlainlySpelled(event, false)) throw new ChatError('bad_request')
  if (event.req.method !== 'POST') throw new ChatError('method_not_allowed')
  assertStarted(ctx)
  assertOrigin(service, event)
  assertBodyAcceptable(headers, BODY_LIMITS)
  readAccept(headers)
  const ip = clientOf(event.req)
  const caller = await recogniseMcp(ctx, event, ip)
  exchange.caller = caller
  const { actor, limits_version } = caller
  const limit = await ctx.limiter.take({
    ...MCP_ENDPOINT,
    user_id: actor.user_id,
    ip,
    is_sign_in: false,
    limits_version,
  })
  if (limit) {
    exchange.headers.push(...limitHeaders(limit))
    ctx.metrics.limited(limit.profile, limit.allowed)
  }
  assertAllowed(limit)
  const source = (event.runtime?.node?.req as IncomingMessage | undefined) ?? event.req.body
  const body = await readBody(
    { body: source, headers },
    { ...BODY_LIMITS, seconds: bodyTimeout(ctx.config) },
    undefined,
  )
  return answerMcp(ctx, { headers, body, actor, request_id, signal: goneSignal(event) })
}

/**
 * Refuses pages of other origins, which `server.cors` does not name: a browser behind a foreign page must not reach a service
 * of its machine or network. One that may call with a token must have one: a login of the host may read cookies.
 *
 * @throws ChatError `forbidden`
 */
function assertOrigin({ chat }: Service, { req, url }: H3Event): void {
  const { config } = contextOf(chat)
  const { headers } = req
  if (!isForeign({ headers, url }, config)) return
  if (isTokenOrigin(headers.get('origin'), config) && bearsToken(req, '')) return
  throw new ChatError('forbidden', {
    message: 'This comes from a page of another origin, which server.cors does not name.',
  })
}

/** Sends a response as a whole. */
function end(exchange: Exchange, { status, headers, body }: WholeReply): unknown {
  exchange.done(status)
  const own: HeaderPair[] = Object.entries(headers)
  if (body !== undefined) own.push(['content-type', 'application/json'])
  return send(exchange.event, {
    status,
    headers: [...exchange.headers, ...own],
    cookies: exchange.caller?.set_cookie ?? [],
    body: body === undefined ? null : JSON.stringify(body),
  })
}

/** Sends a response as an event stream. */
function open(service: Service, exchange: Exchange, reply: StreamedReply): unknown {
  const opening = untilEnd(
    {
      connect: (sink) =>
        reply.open({
          ...sink,
          write: (text) => sink.write({ bytes: Buffer.from(text), events: [] }),
        }),
      cancel: reply.cancel,
    },
    () => exchange.done(200),
  )
  const cookies = exchange.caller?.set_cookie ?? []
  return openStream(exchange.event, streamHeaders(exchange.headers), cookies, opening, service.stream_writes)
}
