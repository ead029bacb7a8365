import type { Context, IdentityRequest } from '../../context.ts'
import { type Actor, hasScope, splitRoles } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { parseBearer, readCookies } from '../../core/headers.ts'
import { digest } from '../../core/ids.ts'
import { SECOND } from '../../core/units.ts'
import { assertKnown } from '../../core/use-case.ts'
import type { LimitsVersion } from '../../limits/store.ts'
import type { Micros } from '../../storage/sql.ts'
import { BOT_KEY_PREFIX, isApiKey } from '../api-keys/rules.ts'
import { recogniseKey } from '../api-keys/service.ts'
import { ACCESS_PREFIX } from '../grants/rules.ts'
import { identify, identifyByToken } from '../host-identity/service.ts'
import { recogniseServerKey, type ServerCaller } from '../server-keys/acting.ts'
import { SERVER_KEY_PREFIX } from '../server-keys/rules.ts'
import { recordExpiry, recordSessionUse, recordUse } from '../sessions/record-use.ts'
import { mayCall } from '../sessions/remembered.ts'
import { endIfReplayed } from '../sessions/rotated.ts'
import { GUEST_PREFIX } from '../sessions/rules.ts'
import { toSessionUse } from '../sessions/service.ts'
import type { SessionOfCall } from '../sessions/store.ts'
import { TOKEN_PREFIX } from '../tokens/rules.ts'
import { recogniseToken } from '../tokens/service.ts'

/** The minimum time between two stored uses of a session. */
const TOUCH_SECONDS = 60

/** The caller; with a session, also the digest of its CSRF token. */
export interface Caller {
  actor: Actor
  csrf_hash?: string
  /** The cookies that the host's own authentication sets with the response. */
  set_cookie?: string[]
}

/** A caller, with the version of the limits if it was read as well. */
export interface CountedCaller extends Caller {
  limits_version?: LimitsVersion
  /** What a server key allows that acts for no account. */
  grants?: ServerCaller['grants']
}

/**
 * The caller of a request: from the host's own authentication, if it has one; else from `Authorization: Bearer`, an API
 * key, the token of a guest, or a signed token (`auth.jwt`); else from the session cookie. The first of them that is present decides.
 *
 * @throws ChatError `unauthenticated`, `session_expired`; `forbidden` for a token without the scope `write`, and for a server
 *   key that acts for no account
 */
export async function recognise(ctx: Context, request: IdentityRequest): Promise<Caller> {
  assertKnown(request, { request: 0, headers: 0, ip: 0, audience: 0, node: 0 })
  assertHeaders(Object(request).headers, 'auth.recognise: pass { request, headers }')
  const tokens = tokensIn(ctx, request.headers)
  const caller: CountedCaller = await (asksHost(ctx, tokens)
    ? identify(ctx, request)
    : recogniseBy(ctx, request, tokens))
  // Use-cases do not know which of them a token, or a server key without an account, may call: the routes decide that.
  if (caller.grants) throw new ChatError('forbidden', { reason: 'key' })
  if (!hasScope(caller.actor, 'write')) throw new ChatError('forbidden', { reason: 'scope' })
  return caller
}

/** Whether the host's own authentication decides: it has none of the tokens that the service has issued. */
export function asksHost({ host }: Pick<Context, 'host'>, { api_key, is_ticket }: CallerTokens): boolean {
  return host.identity !== undefined && !is_ticket && !isOurs(api_key)
}

/**
 * Whether a request has a credential that the service, or its host, judges: a program of others sends some bearer, where its
 * protocol knows no call without one. By its form alone: it may have ended. A host may have any scheme.
 */
export function hasOwnCredential({ accounts, host }: Pick<Context, 'accounts' | 'host'>, headers: Headers): boolean {
  if (host.identity !== undefined) return headers.has('authorization')
  const { api_key } = bearerIn(headers)
  if (api_key === undefined) return false
  if (isApiKey(api_key) || isOurs(api_key)) return true
  return accounts.bearers !== undefined && SIGNED_TOKEN.test(api_key)
}

/** Three parts in base64url. */
const SIGNED_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/

const isOurs = (api_key: string | undefined) =>
  [TOKEN_PREFIX, SERVER_KEY_PREFIX, GUEST_PREFIX, BOT_KEY_PREFIX, ACCESS_PREFIX].some((prefix) =>
    api_key?.startsWith(prefix),
  )

/** The caller of a request whose tokens have been read, without an authentication of the host. */
export async function recogniseBy(
  ctx: Context,
  request: Client,
  { api_key, token_hash, is_ticket }: CallerTokens,
): Promise<CountedCaller> {
  const { bearers } = ctx.accounts
  if (api_key !== undefined && (is_ticket || api_key.startsWith(TOKEN_PREFIX)))
    return { actor: await recogniseToken(ctx, api_key, { ticket: is_ticket }) }
  if (api_key?.startsWith(SERVER_KEY_PREFIX)) return recogniseServerKey(ctx, token_hash!, request.headers)
  if (api_key?.startsWith(GUEST_PREFIX)) {
    // No page of another site can make a browser send it: it needs no CSRF token.
    const { csrf_hash: _, ...caller } = await resume(ctx, request, token_hash)
    return caller
  }
  // What an application was given for /mcp is good for nothing else.
  if (api_key?.startsWith(ACCESS_PREFIX)) throw new ChatError('unauthenticated')
  if (api_key !== undefined && bearers && !isApiKey(api_key))
    return { actor: await identifyByToken(ctx, bearers, { token: api_key, token_hash: token_hash!, ip: request.ip }) }
  if (api_key !== undefined) return { actor: await recogniseKey(ctx, api_key, token_hash) }
  return resume(ctx, request, token_hash)
}

/** @throws TypeError for the headers of `node:http` too: they are a plain object */
function assertHeaders(headers: unknown, pass: string): asserts headers is Headers {
  if (typeof Object(headers).get === 'function') return
  throw new TypeError(`${pass}; on node:http, new Headers(request.headers)`)
}

/** What is stored of the client when a session is used. */
interface Client {
  headers: Headers
  ip?: string | undefined
}

/** What a request proves its caller with. */
export interface CallerTokens {
  /** The token of `Authorization: Bearer`, an API key or a signed token, or a ticket; with one, the session does not count. */
  api_key: string | undefined
  /** Whether it is in the URL of a stream. */
  is_ticket?: boolean
  /** The digest of that token, or else of the session token. */
  token_hash: string | undefined
}

/** @param cookies those of the request, where they have been read already */
export function tokensIn(
  { config }: Pick<Context, 'config'>,
  headers: Headers,
  cookies: ReadonlyMap<string, string> = readCookies(headers.get('cookie')),
): CallerTokens {
  const api_key = parseBearer(headers.get('authorization'))
  const token = api_key ?? cookies.get(config.session.session_cookie_name)
  return { api_key, token_hash: token ? digest(token) : undefined }
}

/** What a request proves its caller with, where no cookie counts. */
export function bearerIn(headers: Headers): CallerTokens {
  const api_key = parseBearer(headers.get('authorization'))
  return { api_key, token_hash: api_key === undefined ? undefined : digest(api_key) }
}

/**
 * The caller of a request, for hosts that call the use-cases themselves. A host that accepts state-changing requests
 * with a session cookie this way checks for cross-site requests itself.
 *
 * @param request the request, or its headers
 * @throws ChatError `unauthenticated`, `session_expired`
 */
export async function authenticate(ctx: Context, request: Headers | Request): Promise<Actor> {
  const isWhole = 'headers' in Object(request)
  const headers = isWhole ? (request as Request).headers : (request as Headers)
  assertHeaders(headers, 'auth.authenticate: pass the Headers or the Request')
  const whole = isWhole ? (request as Request) : new Request('http://localhost/', { headers })
  return (await recognise(ctx, { request: whole, headers })).actor
}

/**
 * The caller of a session token. Use extends the idle deadline; an expired session stays expired, also if the clock is
 * set back. A replaced token ends its session.
 *
 * @throws ChatError `unauthenticated`, `session_expired`
 */
async function resume(ctx: Context, { headers, ip }: Client, token_hash: string | undefined): Promise<CountedCaller> {
  if (token_hash === undefined) throw new ChatError('unauthenticated')
  const session = await ctx.accounts.findSession(token_hash)
  if (session) ctx.accounts.remembered?.remember(session)
  else await endIfReplayed(ctx, token_hash, ip)
  if (!session || session.disabled_at) throw new ChatError('unauthenticated')
  const now = ctx.sessionNow()
  if (now > session.idle_expires_at || now > session.absolute_expires_at) {
    // A clock that may be wrong leaves no mark: the session continues when it is right again.
    if (session.idle_expires_at > 0 && ctx.clock.step() === 0)
      await recordUse(ctx, 'session', (tx) => recordExpiry(tx, session, now))
    throw new ChatError('session_expired')
  }

  const user_agent = headers.get('user-agent') ?? undefined
  if (isUseDue(ctx, session, now))
    await recordSessionUse(ctx, session, toSessionUse(ctx, { ip, user_agent }, { kind: session.kind, now }))
  return toCaller(session)
}

/**
 * The caller of a session that this process has read before. Whether it still exists is not certain: the transaction of the
 * call confirms it (`RememberedSessions`).
 *
 * @returns `undefined` where the session must be read
 */
export function recall(ctx: Context, { api_key, token_hash }: CallerTokens): CountedCaller | undefined {
  const { remembered } = ctx.accounts
  if (!remembered || api_key !== undefined || token_hash === undefined) return undefined
  const session = remembered.find(token_hash)
  const now = ctx.sessionNow()
  if (!session || !mayCall(session, now) || isUseDue(ctx, session, now)) return undefined
  const caller = toCaller(session)
  remembered.rely(caller.actor, session)
  return caller
}

function isUseDue({ config }: Context, { last_seen_at }: SessionOfCall, now: Micros): boolean {
  return now - last_seen_at >= Math.min(TOUCH_SECONDS, config.session.idle_seconds / 2) * SECOND
}

function toCaller({ id, user_id, roles, csrf_hash, limits_version }: SessionOfCall): CountedCaller {
  return { actor: { user_id, roles: splitRoles(roles), session_id: id }, csrf_hash, limits_version }
}
