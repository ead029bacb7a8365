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
import type { Service } from '../handle.ts'
import { type BodySource, bodyTimeout, readBody, readParams } from '../request/body.ts'
import { assertAllowed } from '../request/rate-limit.ts'
import type { HeaderPair } from '../response/headers.ts'
import { respondAt } from '../response/own-path.ts'
import type { Reply } from '../response/serialize.ts'
import { metadataReply, PUBLIC, preflight } from './well-known.ts'

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

const JSON_TYPE: HeaderPair = ['content-type', 'application/json']

/** A document for clients that have no token yet. */
function publish(service: Service, path: string, event: H3Event, document: object): Promise<unknown> {
  const { method } = event.req
  return respondAt(service, event, { path, reply: async () => metadataReply(method, document), toFailure })
}

/** A call of a client: JSON in the form of OAuth responds. */
function call<Body>(
  service: Service,
  path: string,
  event: H3Event,
  { read, answer, status = 200 }: Call<Body>,
): Promise<unknown> {
  const ctx = contextOf(service.chat)
  const { method, headers } = event.req
  async function reply(): Promise<Reply> {
    if (method === 'OPTIONS') return preflight('POST')
    if (method !== 'POST') return { status: 405, headers: [['allow', 'OPTIONS, POST']], body: null }
    assertStarted(ctx)
    const ip = service.clientOf(event.req)
    // No limit of sign-ins: the clients of a hosted product share a few addresses.
    assertAllowed(await ctx.limiter.take({ method, path, user_id: undefined, ip, is_sign_in: false }))
    const source = (event.runtime?.node?.req as IncomingMessage | undefined) ?? event.req.body
    const limits = { ...LIMITS, seconds: bodyTimeout(ctx.config) }
    const result = await answer(ctx, await read(source, headers, limits), ip)
    const own: HeaderPair[] = [...PUBLIC, JSON_TYPE, ['cache-control', 'no-store'], ['pragma', 'no-cache']]
    return { status, headers: own, body: JSON.stringify(result ?? {}) }
  }
  ctx.load.arrived()
  return respondAt(service, event, { path, reply, toFailure }).finally(() => ctx.load.answered())
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

/** A failure in the form of OAuth. Only an {@link OAuthError} says what was wrong with a request. */
function toFailure(error: unknown): Reply {
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
