import type { IncomingMessage } from 'node:http'
import { readCookie } from '../auth/cookies.ts'
import type { Client } from '../auth/service.ts'
import type { Chat } from '../chat.ts'
import type { Config } from '../config.ts'
import { ChatError } from '../errors.ts'
import { digest, sameDigest } from '../ids.ts'
import type { Verdict } from '../limits/limiter.ts'
import { assertBodyAcceptable, readJson } from './body.ts'
import { deviceCookieName } from './cookies.ts'
import { assertWithinLimits, endpoints } from './limit.ts'
import { readQuery } from './query.ts'
import type { AnyRoute } from './route.ts'
import { surfaceOf } from './surface.ts'

/** A request, whatever runtime it came from. */
export interface Incoming {
  method: string
  headers: Headers
  params: Record<string, string>
  /** With its `?`, or empty. */
  search: string
  body: IncomingMessage | ReadableStream<Uint8Array> | null
  /** The client's, whatever proxies there are between. */
  ip?: string | undefined
  /** Hears what the limits say, whether the call may go on or not. */
  limited?: (verdict: Verdict) => void
}

/**
 * Calls the use-case of a route: what it returns is the answer.
 *
 * Checks in this order: body size and type, session, CSRF, rate limit; then the use-case validates, checks rights, and state.
 */
export async function perform(chat: Chat, route: AnyRoute, request: Incoming): Promise<unknown> {
  const { config } = chat.context
  const limits = surfaceOf(route.path).body
  await route.before?.({ chat })
  const takesBody = route.body && (!route.body_optional || hasBody(request))
  if (takesBody) assertBodyAcceptable(request.headers, limits)

  const client = clientOf(config, route, request)
  const session = await findSession(chat, route, client)
  if (session && route.changes) assertCsrf(config, request.headers, session.csrf_hash)
  // A form of another site cannot sign anybody in either.
  if (route.changes && request.headers.get('sec-fetch-site') === 'cross-site') throw new ChatError('csrf_failed')

  await assertWithinLimits(chat, route, { user_id: session?.actor.user_id, ip: client.ip }, request.limited)

  const body = takesBody ? await readJson(request.body, limits) : undefined
  const query = route.query && readQuery(route.query, request.search)
  const actor = session && { ...session.actor, ...(client.ip && { ip: client.ip }) }
  return route.handler({
    chat,
    actor,
    params: request.params,
    query,
    body,
    headers: request.headers,
    client,
    endpoints,
  })
}

/** The session a call comes with. Where one is optional, a dead one counts as none. */
async function findSession(chat: Chat, route: AnyRoute, { token }: Client) {
  if (route.access === 'public' || (route.access === 'optional' && !token)) return undefined
  try {
    return await chat.auth.resume(token)
  } catch (error) {
    const isDead = error instanceof ChatError && (error.code === 'unauthenticated' || error.code === 'session_expired')
    if (route.access === 'optional' && isDead) return undefined
    throw error
  }
}

/** Whether something may come: a body without a length may still turn out to be empty. */
function hasBody({ body, headers }: Incoming): boolean {
  return (
    body !== null &&
    (headers.has('transfer-encoding') || (headers.get('content-length') ?? '0') !== '0' || 'getReader' in body)
  )
}

function clientOf(config: Config, route: AnyRoute, { headers, ip }: Incoming): Client {
  const token = readCookie(headers.get('cookie'), config.session.session_cookie_name)
  const device = route.limited_as === 'sign_in' && readCookie(headers.get('cookie'), deviceCookieName(config))
  const user_agent = headers.get('user-agent')
  return { ...(ip && { ip }), ...(user_agent && { user_agent }), ...(token && { token }), ...(device && { device }) }
}

/** The header, the cookie and the session must hold the same token: a cookie alone may have been planted by a neighbouring host. */
function assertCsrf(config: Config, headers: Headers, csrfHash: string): void {
  const { enabled, header_name, cookie_name } = config.security.csrf
  if (!enabled) return
  const [header, cookie] = [headers.get(header_name), readCookie(headers.get('cookie'), cookie_name)]
  if (!header || !cookie || header !== cookie || !sameDigest(digest(header), csrfHash))
    throw new ChatError('csrf_failed')
}
