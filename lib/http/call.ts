import type { IncomingMessage } from 'node:http'
import { hasSignIn } from '../accounts/authentication/rules.ts'
import {
  asksHost,
  bearerIn,
  type CallerTokens,
  type CountedCaller,
  hasOwnCredential,
  recall,
  recogniseBy,
  tokensIn,
} from '../accounts/authentication/service.ts'
import { identify } from '../accounts/host-identity/service.ts'
import type { Client } from '../accounts/sessions/service.ts'
import type { Config } from '../config/parse.ts'
import type { Context, IdentityRequest } from '../context.ts'
import { type Actor, hasScope, isGuest } from '../core/actor.ts'
import { contextOf } from '../core/context-of.ts'
import { ChatError } from '../core/errors.ts'
import { digest } from '../core/ids.ts'
import { assertBodyAcceptable, type BodyLimits } from '../core/json-body.ts'
import { MAX_LENGTH } from '../core/lengths.ts'
import { assertStarted } from '../core/lifecycle.ts'
import { type AnyRoute, isLimited } from '../endpoint.ts'
import type { AuthAttempt } from '../limits/auth-failures.ts'
import type { LimitResult } from '../limits/limiter.ts'
import type { Chat } from '../service.ts'
import { apiGroupOf } from './api-groups.ts'
import { bodyTimeout, isForm, readBody, refuseBody } from './request/body.ts'
import { assertBytesAcceptable, readBytes } from './request/bytes.ts'
import { bindingCookieName, deviceCookieName } from './request/cookies.ts'
import { assertCsrf, isForeign, isTokenOrigin } from './request/csrf.ts'
import { withTexts } from './request/params.ts'
import { readQuery } from './request/query.ts'
import { assertAllowed, limitedEndpoints, takeFromLimits } from './request/rate-limit.ts'
import { ACTS_FOR_NONE, toRefusal } from './request/refusal.ts'

/** A request, from any runtime. */
export interface Incoming {
  method: string
  headers: Headers
  cookies: ReadonlyMap<string, string>
  params: Record<string, string>
  /** With its `?`, or empty. */
  search: string
  /** The origin of the request's URL, as far as the runtime knows it. */
  url: { host: string }
  body: IncomingMessage | ReadableStream<Uint8Array> | null
  /** The client's, whatever proxies are in between. */
  ip?: string | undefined
  /** The request as the runtime has it, for a login of the host. */
  given: Pick<IdentityRequest, 'request' | 'node'>
  /** Whether the client has disconnected. */
  isGone?: () => boolean
  /** A signal that is aborted when the client disconnects. */
  gone: () => AbortSignal
  /** Resolves when a stream may be opened. Routes that only stream have waited before. */
  turn?: () => Promise<void>
}

/** The result of a call, and what was found out on the way, whether it failed or not. */
export interface Performed {
  outcome: { result: unknown } | { error: unknown }
  /** The caller, once it is known. */
  actor: Actor | undefined
  /** The cookies that the login of the host sets. */
  set_cookie: string[] | undefined
  /** What the limits returned, if the call was counted. */
  limit_result: LimitResult | undefined
}

/**
 * Calls the use-case of a route and returns its result. It never rejects.
 *
 * Checks in this order: body size and type, authentication, CSRF, rate limit; then the use-case validates, checks
 * rights, and state.
 */
export async function perform(chat: Chat, route: AnyRoute, request: Incoming): Promise<Performed> {
  const ctx = contextOf(chat)
  const performed: Performed = { outcome: NO_RESULT, actor: undefined, set_cookie: undefined, limit_result: undefined }
  try {
    performed.outcome = { result: await checkAndCall(chat, route, request, performed) }
  } catch (error) {
    const isFailure = error instanceof ChatError && error.status === 401 && !ctx.host.identity
    if (isFailure) ctx.accounts.authFailures.failed(request)
    performed.outcome = { error: isFailure ? toRefusal(error, request.headers) : error }
  }
  if (!route.bytes) ctx.load.answered()
  return performed
}

const NO_RESULT = { result: undefined }

async function checkAndCall(chat: Chat, route: AnyRoute, request: Incoming, performed: Performed): Promise<unknown> {
  const ctx = contextOf(chat)
  // What no limit counts answers at any time: probes, metrics, and what is fixed.
  if (isLimited(route)) assertStarted(ctx)
  if (!isOffered(ctx, route, request)) throw new ChatError('not_found')
  if (route.before) await route.before({ chat })
  const takesBody = route.body && (!route.body_optional || saysBody(request))
  const limits = takesBody ? bodyLimitsOf(ctx, route, request) : undefined
  if (limits && !(route.form && isForm(request.headers))) assertBodyAcceptable(request.headers, limits)
  if (route.bytes) assertBytesAcceptable(request.headers, route.bytes, ctx.config)

  const call: CheckedCall = { chat, route, request, performed, limits, body: undefined }
  const recalled = route.confirms_session && !ctx.host.identity && recall(ctx, tokensOf(ctx, route, request))
  if (!recalled) return callAs(await findCaller(chat, route, request), call)
  try {
    return await callAs(recalled, call)
  } catch (error) {
    if (!(error instanceof ChatError) || error.status >= 500) throw error
    // Nothing is stored, and the caller may have been another one: it is read, and if need be the call is made again.
    const caller = await findCaller(chat, route, request)
    if (error.code !== 'unauthenticated' && isSameCaller(caller!, recalled)) throw error
    return callAs(caller, call)
  }
}

/** Without a sign-in of the service, keys and the sessions of before stay; beside the login of a host, the tokens of guests. */
function isOffered(ctx: Context, route: AnyRoute, request: Incoming): boolean {
  if (!route.sign_in) return true
  if (!ctx.host.identity) return route.access !== 'public' || hasSignIn(ctx)
  const tokens = tokensOf(ctx, route, request)
  return route.ends_tokens === true && tokens.api_key !== undefined && !asksHost(ctx, tokens)
}

/** A call whose request is acceptable, before its caller is known. */
interface CheckedCall {
  chat: Chat
  route: AnyRoute
  request: Incoming
  performed: Performed
  /** How large a body of JSON may be; without them, none is read. */
  limits: BodyLimits | undefined
  /** Once it is read. */
  body: Promise<unknown> | undefined
}

async function callAs(caller: CountedCaller | undefined, call: CheckedCall): Promise<unknown> {
  const { chat, route, request, performed, limits } = call
  const { config } = contextOf(chat)
  const client = clientOf(config, route, request)
  performed.actor = caller?.actor
  performed.set_cookie = caller?.set_cookie
  // A form of another site must not sign a user in either, and a stream is open before its page turns out to be
  // foreign.
  const isGuarded = route.changes && !route.is_by_address
  const isOfOthers = (isGuarded || isStream(route)) && isForeign(request, config)
  const mayBeCookieless = route.is_cookieless && isTokenOrigin(request.headers.get('origin'), config)
  if (isOfOthers && !mayBeCookieless && !mayBear(caller, call)) throw new ChatError('csrf_failed', FOREIGN)
  if (caller) assertScope(caller.actor, route)
  if (caller?.actor.server_key !== undefined) assertServerKey(caller, route)
  // A page of another site can send a cookie, but no API key.
  const csrf_hash = isGuarded ? caller?.csrf_hash : undefined
  const maySignUp =
    route.signs_up !== undefined && caller !== undefined && isGuest(caller.actor) && hasSignIn(contextOf(chat))
  if (csrf_hash !== undefined && !maySignUp) assertCsrf(config, request, csrf_hash)

  performed.limit_result = await takeFromLimits(chat, route, {
    user_id: caller?.actor.user_id || undefined,
    ip: client.ip,
    limits_version: caller?.limits_version,
  })
  assertAllowed(performed.limit_result)

  if (limits) call.body ??= readBody(request, { ...limits, seconds: bodyTimeout(config) }, route.form?.field)
  else if (route.body && !request.headers.has('content-length')) call.body ??= refuseBody(request.body)
  const body = await call.body
  if (isOfOthers && mayBeCookieless && !route.is_cookieless!(body)) throw new ChatError('csrf_failed', FOREIGN)
  // A guest who signs up is another user from then on: the call is that of a newcomer, with and without the session.
  const signsUp = maySignUp && route.signs_up!(body)
  if (isOfOthers && signsUp) throw new ChatError('csrf_failed', FOREIGN)
  if (csrf_hash !== undefined && maySignUp && !signsUp) assertCsrf(config, request, csrf_hash)
  const query = route.query && readQuery(route.query, request.search)
  if (caller && client.ip !== undefined) caller.actor.ip = client.ip
  if (route.pieces && route.answer === 'json' && (asksForStream(body) || asksForStream(query))) await request.turn?.()
  return route.handler({
    chat,
    actor: signsUp ? undefined : caller?.actor,
    params: route.params ? withTexts(route.params, request.params) : request.params,
    query,
    body,
    readBytes: (_, buffer, signal, onBytes) => readBytes(request, { buffer, ...route.bytes!, signal, onBytes }),
    headers: request.headers,
    gone: request.gone,
    client,
    endpoints: limitedEndpoints,
  })
}

/** Whether a call that may return JSON or a stream wants the stream. */
const asksForStream = (input: unknown): boolean => (Object(input) as { stream?: unknown }).stream === true

/**
 * The caller. On an optional route an expired session counts as none; an explicit but invalid token is refused in any
 * case.
 */
async function findCaller(chat: Chat, route: AnyRoute, request: Incoming): Promise<CountedCaller | undefined> {
  const ctx = contextOf(chat)
  if (route.access === 'public' || route.looks_at_caller?.(ctx.config) === false) return undefined
  const { headers, ip, given } = request
  const tokens = tokensOf(ctx, route, request)
  // A login of the host may read cookies, which a page of another site makes a browser send.
  if (route.by_token && !hasOwnCredential(ctx, headers)) {
    if (route.access === 'optional') return undefined
    throw new ChatError('unauthenticated')
  }
  const { authFailures } = ctx.accounts
  const attempt: AuthAttempt = { ip, credential: tokens.token_hash }
  try {
    // A host's own authentication needs no CSRF token.
    if (asksHost(ctx, tokens)) return await identify(ctx, { ...given, headers, ...(ip && { ip }) })
    authFailures.check(attempt)
    const caller = await recogniseBy(ctx, request, tokens)
    authFailures.remember(attempt)
    return caller
  } catch (error) {
    const isDead = error instanceof ChatError && (error.code === 'unauthenticated' || error.code === 'session_expired')
    if (isDead) authFailures.forget(attempt)
    const isMeant = route.by_token || (tokens.api_key !== undefined && !asksHost(ctx, tokens))
    if (route.access === 'optional' && isDead && !isMeant) return undefined
    throw error
  }
}

/** How large a body may be: larger with a credential, where the group of the route says so. */
function bodyLimitsOf(ctx: Context, route: AnyRoute, request: Incoming): BodyLimits {
  const { body, body_with_token = body } = apiGroupOf(route.path)
  return body_with_token !== body && hasOwnCredential(ctx, request.headers) ? body_with_token : body
}

/** The tokens of a request; of a stream, which a page opens without headers, also a ticket. */
function tokensOf(ctx: Context, route: AnyRoute, { headers, cookies, search }: Incoming): CallerTokens {
  const tokens = route.by_token ? bearerIn(headers) : tokensIn(ctx, headers, cookies)
  if (route.answer !== 'stream' || tokens.api_key !== undefined || !search.includes('ticket=')) return tokens
  const tickets = new URLSearchParams(search).getAll('ticket')
  const [ticket] = tickets
  // Several, and one that is too long, are refused with the query.
  if (ticket === undefined || tickets.length > 1 || ticket.length > MAX_LENGTH.signed_token) return tokens
  return { api_key: ticket, token_hash: digest(ticket), is_ticket: true }
}

/** A page of another site could open many of them. */
const isStream = ({ answer }: AnyRoute) => answer === 'stream' || answer === 'frames'

/** @throws ChatError `forbidden` where the token of the call does not allow it */
function assertScope(actor: Actor, { needs_scope, changes, answer }: AnyRoute): void {
  const needed = needs_scope ?? (changes ? 'write' : answer === 'stream' ? 'stream' : 'read')
  if (!hasScope(actor, needed)) throw new ChatError('forbidden', { reason: 'scope' })
}

/**
 * A server key calls in the name of an account what an API key may call, and without one the routes of its scopes.
 *
 * @throws ChatError `forbidden`
 */
function assertServerKey({ grants }: CountedCaller, { sign_in, server_key }: AnyRoute): void {
  if (grants && !server_key) throw new ChatError('forbidden', { reason: 'key', message: ACTS_FOR_NONE })
  if (!grants && sign_in) throw new ChatError('forbidden', { reason: 'key' })
  if (grants && !grants.includes(server_key!)) throw new ChatError('forbidden', { reason: 'scope' })
}

/** Whether a call by one is decided as a call by the other. */
function isSameCaller(one: CountedCaller, other: CountedCaller): boolean {
  return one.limits_version === other.limits_version && one.actor.roles.join() === other.actor.roles.join()
}

/** Whether the headers say that a body follows. Frameworks give a request a stream in any case: it may be empty. */
function saysBody({ body, headers }: Incoming): boolean {
  if (body === null) return false
  const length = headers.get('content-length')
  if (headers.has('transfer-encoding') || length !== null) return length !== '0'
  return 'getReader' in body && headers.has('content-type')
}

function clientOf(config: Config, route: AnyRoute, { headers, cookies, ip, isGone }: Incoming): Client {
  const token = cookies.get(config.session.session_cookie_name)
  const user_agent = headers.get('user-agent') ?? undefined
  const isSignIn = route.limited_as === 'sign_in'
  const binding = isSignIn ? cookies.get(bindingCookieName(config)) : undefined
  const device = isSignIn ? cookies.get(deviceCookieName(config)) : undefined
  return { ip, user_agent, token, binding, device, isGone }
}

/**
 * Whether a page of another site may make this call: it has given the token that the caller was recognised by. A login of the
 * host may have read the cookies.
 */
function mayBear(caller: CountedCaller | undefined, { chat, route, request }: CheckedCall): boolean {
  const ctx = contextOf(chat)
  const tokens = tokensOf(ctx, route, request)
  const isByToken = caller !== undefined && tokens.api_key !== undefined && !asksHost(ctx, tokens)
  return isByToken && isTokenOrigin(request.headers.get('origin'), ctx.config)
}

/** The remedy: the default message is about the token. */
const FOREIGN = {
  message: 'This comes from a page of another origin, which server.cors.allowed_origins does not name.',
}
