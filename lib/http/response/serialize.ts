import type { SignedIn } from '../../accounts/sessions/service.ts'
import type { Config } from '../../config/parse.ts'
import { contextOf } from '../../core/context-of.ts'
import { ChatError } from '../../core/errors.ts'
import { RESULT_HEADERS } from '../../core/headers.ts'
import { toJson } from '../../core/stored-json.ts'
import type { AnyRoute } from '../../endpoint.ts'
import type { Chat } from '../../service.ts'
import { bindingCookie, clearedCookies, deviceCookie, sessionCookies } from '../request/cookies.ts'
import type { FailureShape } from './error-shapes.ts'
import type { HeaderPair } from './headers.ts'

/** A response before it is passed to the runtime. */
export interface Reply {
  status: number
  /** Its own headers, besides those of every response. */
  headers: readonly HeaderPair[]
  /** Lines of `Set-Cookie`. */
  cookies?: readonly string[]
  body: string | Uint8Array | ReadableStream<Uint8Array> | null
}

/** Converts the result of a use-case to a response. */
export function serialize(chat: Chat, route: AnyRoute, result: unknown): Reply {
  const { config, sessionNow } = contextOf(chat)
  if (route.answer === 'text') {
    const type = route.content_type ?? 'text/plain; charset=utf-8'
    return { status: route.status, headers: [['content-type', type]], body: result as string | Uint8Array }
  }
  if (route.answer === 'document') {
    const { content_type, body } = result as { content_type: string; body: string }
    return { status: route.status, headers: [['content-type', content_type]], body }
  }
  const headers: HeaderPair[] = []
  let value = result as object
  let cookies: string[] = []
  if (route.answer === 'session') {
    const answer = (result ?? {}) as SessionAnswer
    const { token, device, signed_in = token === undefined ? undefined : result, ...rest } = answer
    if (signed_in) {
      cookies = sessionCookies(config, signed_in as SignedIn, sessionNow())
      headers.push(['x-session-rotated', '1'])
    }
    if (device !== undefined) cookies.push(deviceCookie(config, device))
    if (result === undefined) cookies = clearedCookies(config)
    value = rest
  }
  if (route.answer === 'device') cookies = [deviceCookie(config, (result as { device: string }).device)]
  if (route.answer === 'binding') {
    const { binding, ...rest } = result as { binding: string }
    cookies = [bindingCookie(config, binding)]
    value = rest
  }
  if (route.status === 204 || (route.status_if_empty && result === undefined))
    return { status: 204, headers, cookies, body: null }
  for (const [header, field] of HEADERS) {
    if (!(header in route.response_headers) || !(field in value)) continue
    const { [field]: content, ...rest } = value as Record<string, string>
    headers.push([header.toLowerCase(), content!])
    value = rest
  }
  headers.push(['content-type', 'application/json'])
  const isOld = 'created' in value && value.created === false
  const status = (isOld && route.status_unless_created) || route.status
  return { status, headers, cookies, body: toJson(value) }
}

const HEADERS = Object.entries(RESULT_HEADERS)

/** The session of a sign-in, or of a result that comes with one. `undefined` ends the session. */
type SessionAnswer = Partial<SignedIn> & { signed_in?: SignedIn }

/** Converts a failure to a response in this format. Only a {@link ChatError} is disclosed. */
export function toFailure(error: ChatError, shape: FailureShape, requestId: string): Reply {
  const { status, retry_after_seconds } = error
  const headers: HeaderPair[] = [['content-type', shape.content_type]]
  // Every 503 has a Retry-After: the service may be available again in a moment.
  const wait = retry_after_seconds ?? (status === 503 ? 1 : undefined)
  if (wait !== undefined) headers.push(['retry-after', String(wait)])
  if (error.content_range !== undefined) headers.push(['content-range', error.content_range])
  return { status, headers, body: JSON.stringify(shape.toBody(error, requestId)) }
}

/**
 * Clears the cookies of an expired session, so that the browser stops sending them. Those of an unknown one stay: a
 * call in progress during a refresh would otherwise clear the new ones.
 */
export function deadCookies(error: ChatError, config: Config, sent: ReadonlyMap<string, string>): string[] {
  const isSent = sent.has(config.session.session_cookie_name)
  return error.code === 'session_expired' && isSent ? clearedCookies(config) : []
}

/** A failure as a ChatError. */
export function toChatError(error: unknown): ChatError {
  return error instanceof ChatError ? error : new ChatError('internal', { cause: error })
}
