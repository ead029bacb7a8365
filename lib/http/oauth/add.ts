import type { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { metadataPaths } from '../../accounts/grants/metadata.ts'
import { issueTokens, revokeToken } from '../../accounts/grants/tokens.ts'
import { OAuthError } from '../../accounts/oauth-clients/failures.ts'
import { registerClient } from '../../accounts/oauth-clients/registering.ts'
import { basePathOf } from '../../config/base-path.ts'
import type { Context } from '../../context.ts'
import { contextOf } from '../../core/context-of.ts'
import { ChatError } from '../../core/errors.ts'
import { assertBodyAcceptable, type BodyLimits } from '../../core/json-body.ts'
import { assertStarted } from '../../core/lifecycle.ts'
import { bodyTimeout } from '../call.ts'
import type { Service } from '../handle.ts'
import { type BodySource, readBody, readParams } from '../request/body.ts'
import { isPlainlySpelled, statusOfMalformedEvent } from '../request/malformed.ts'
import { assertAllowed } from '../request/rate-limit.ts'
import { type HeaderPair, toRequestId } from '../response/headers.ts'
import { send } from '../response/send.ts'
import type { Reply } from '../response/serialize.ts'
import { METADATA_HEADERS } from './well-known.ts'

/** The longest form: an assertion, a code, a verifier, a few addresses; and the longest registration. */
const LIMITS = { bytes: 16 * 1024, entries: 1000 }

/** Adds what responds at a path. */
type AddRoute = (path: string, respond: (event: H3Event) => unknown) => void

/** How the body of a call is read, and what responds to it. */
interface Call<Body> {
  read: (source: BodySource, headers: Headers, limits: BodyLimits) => Promise<Body>
  answer: (ctx: Context, body: Body, ip: string | undefined) => Promise<object | undefined>
  /** @default 200 */
  status?: number
}

/** A call by a form, whose fields are there once each. */
const byForm = (answer: Call<Record<string, string>>['answer']): Call<Record<string, string>> => ({
  read: async (source, headers, limits) => onceEach(await readParams(source, headers, limits)),
  answer,
})

const REGISTRATION: Call<unknown> = {
  read: (body, headers, limits) => {
    assertBodyAcceptable(headers, limits)
    return readBody({ body, headers }, limits, undefined)
  },
  answer: registerClient,
  status: 201,
}

/** What clients call, and where they find out about it. */
export function addOauth(at: AddRoute, service: Service): void {
  const { config } = contextOf(service.chat)
  for (const base of new Set(['', basePathOf(config)]))
    for (const [path, document] of metadataPaths(config, base))
      at(path, (event) => publish(service, path, event, document))
  if (!config.mcp.oauth.enabled) return
  at('/oauth/token', (event) => call(service, '/oauth/token', event, byForm(issueTokens)))
  at('/oauth/revoke', (event) => call(service, '/oauth/revoke', event, byForm(revoke)))
  if (config.mcp.oauth.registration)
    at('/oauth/register', (event) => call(service, '/oauth/register', event, REGISTRATION))
}

async function revoke(ctx: Context, fields: Record<string, string>): Promise<undefined> {
  await revokeToken(ctx, fields)
}

/** Any page may read these: they have no secret, and no cookie has an effect. */
const PUBLIC: HeaderPair[] = [
  ['access-control-allow-origin', '*'],
  ['cross-origin-resource-policy', 'cross-origin'],
]

const preflight = (methods: string): Reply => ({
  status: 204,
  headers: [
    ...PUBLIC,
    ['access-control-allow-methods', methods],
    // Clients of MCP send its version with each request.
    ['access-control-allow-headers', 'Content-Type, MCP-Protocol-Version'],
    ['access-control-max-age', '7200'],
    ['allow', `OPTIONS, ${methods}`],
  ],
  body: null,
})

const JSON_TYPE: HeaderPair = ['content-type', 'application/json']

/** A document for clients that have no token yet. */
function publish(service: Service, route: string, event: H3Event, document: object): Promise<unknown> {
  return respond(service, route, event, async ({ method }) => {
    if (method === 'OPTIONS') return preflight('GET, HEAD')
    if (method !== 'GET' && method !== 'HEAD')
      return { status: 405, headers: [['allow', 'GET, HEAD, OPTIONS']], body: null }
    return {
      status: 200,
      headers: Object.entries(METADATA_HEADERS),
      body: method === 'HEAD' ? null : JSON.stringify(document),
    }
  })
}

/** A call of a client: JSON in the form of OAuth responds. */
function call<Body>(
  service: Service,
  route: string,
  event: H3Event,
  { read, answer, status = 200 }: Call<Body>,
): Promise<unknown> {
  const ctx = contextOf(service.chat)
  return respond(service, route, event, async ({ method, headers }) => {
    if (method === 'OPTIONS') return preflight('POST')
    if (method !== 'POST') return { status: 405, headers: [['allow', 'OPTIONS, POST']], body: null }
    assertStarted(ctx)
    const source = (event.runtime?.node?.req as IncomingMessage | undefined) ?? event.req.body
    const limits = { ...LIMITS, seconds: bodyTimeout(ctx.config) }
    const ip = service.clientOf(event.req)
    // No limit of sign-ins: the clients of a hosted product share a few addresses.
    assertAllowed(await ctx.limiter.take({ method, path: route, user_id: undefined, ip, is_sign_in: false }))
    const result = await answer(ctx, await read(source, headers, limits), ip)
    const own: HeaderPair[] = [...PUBLIC, JSON_TYPE, ['cache-control', 'no-store'], ['pragma', 'no-cache']]
    return { status, headers: own, body: JSON.stringify(result ?? {}) }
  })
}

/**
 * The fields of a form, each once. Empty ones count as left out (RFC 6749, section 3.1).
 *
 * @throws OAuthError `invalid_request` for one that is there twice
 */
function onceEach(params: URLSearchParams): Record<string, string> {
  const fields = new Map(params)
  if (fields.size < params.size) throw new OAuthError('invalid_request', 'A parameter is there twice')
  return Object.fromEntries([...fields].filter(([, value]) => value !== ''))
}

async function respond(
  service: Service,
  route: string,
  event: H3Event,
  reply: (request: Request) => Promise<Reply>,
): Promise<unknown> {
  const ctx = contextOf(service.chat)
  const started = performance.now()
  const { method, headers } = event.req
  const request_id = toRequestId(headers)
  const malformed = statusOfMalformedEvent(event)
  ctx.load.arrived()
  const {
    status,
    headers: own,
    body,
  } = malformed
    ? { status: malformed, headers: [['connection', 'close']] as HeaderPair[], body: null }
    : await safely(event, reply)
        .catch((error) => failure(ctx, { request_id, route }, error))
        .finally(() => ctx.load.answered())
  // No query, and nothing of the body: they have codes and tokens.
  service.requestLog(undefined, { request_id, method, route, status, ms: performance.now() - started })
  const names = new Set(own.map(([name]) => name))
  const common = service.headers.of(request_id, null).filter(([name]) => !names.has(name))
  return send(event, { status, headers: [...common, ...own], body })
}

async function safely(event: H3Event, reply: (request: Request) => Promise<Reply>): Promise<Reply> {
  if (!isPlainlySpelled(event, false)) throw new ChatError('bad_request')
  return reply(event.req)
}

/** A failure in the form of OAuth. Only an {@link OAuthError} says what was wrong with a request. */
function failure(ctx: Context, about: { request_id: string; route: string }, error: unknown): Reply {
  const known = error instanceof OAuthError || error instanceof ChatError
  if (!known) ctx.log.error('Request failed', { ...about, cause: String(error) })
  const { status, body, retry_after } = toOAuth(error)
  const headers: HeaderPair[] = [...PUBLIC, JSON_TYPE, ['cache-control', 'no-store']]
  if (retry_after !== undefined) headers.push(['retry-after', String(retry_after)])
  return { status, headers, body: JSON.stringify(body) }
}

const invalid = (error_description: string) => ({ error: 'invalid_request', error_description })

function toOAuth(error: unknown): { status: number; body: object; retry_after?: number } {
  if (error instanceof OAuthError)
    return { status: error.status, body: error.toJSON(), ...(error.status === 503 && { retry_after: 1 }) }
  const { code, status, message, retry_after_seconds } = error instanceof ChatError ? error : new ChatError('internal')
  if (code === 'unsupported_media_type')
    return { status, body: invalid('The body has another type than this call takes.') }
  if (status < 500 && status !== 429) return { status, body: invalid(message) }
  const name = status === 500 ? 'server_error' : 'temporarily_unavailable'
  const retry_after = retry_after_seconds ?? (status === 500 ? undefined : 1)
  return {
    status,
    body: { error: name, error_description: message },
    ...(retry_after !== undefined && { retry_after }),
  }
}
