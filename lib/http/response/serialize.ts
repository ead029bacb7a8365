import type { SignedIn } from '../../accounts/sessions/service.ts'
import type { Config } from '../../config/parse.ts'
import { contextOf } from '../../core/context-of.ts'
import { ChatError } from '../../core/errors.ts'
import { RESULT_HEADERS } from '../../core/headers.ts'
import { toJson } from '../../core/stored-json.ts'
import type { AnyRoute } from '../../endpoint.ts'
import type { Chat } from '../../service.ts'
import type { Micros } from '../../storage/sql.ts'
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
  const toContent = CONTENTS[route.answer as keyof typeof CONTENTS] ?? toJsonContent
  const { cookies = [], headers = [], ...content } = toContent(result as never, { route, config, now: sessionNow })
  if ('text' in content)
    return { status: route.status, headers: [['content-type', content.content_type]], body: content.text }
  if (route.text_if_empty !== undefined && result === undefined)
    return { status: 200, headers: [['content-type', 'text/plain; charset=utf-8']], body: route.text_if_empty }
  let { value } = content
  if (route.status === 204 || (route.status_if_empty && result === undefined))
    return { status: 204, headers, cookies, body: null }
  for (const [header, field] of HEADERS) {
    if (!(header in route.response_headers) || !(field in value)) continue
    const { [field]: fieldValue, ...rest } = value as Record<string, string>
    headers.push([header.toLowerCase(), fieldValue!])
    value = rest
  }
  headers.push(['content-type', 'application/json'])
  const isOld = 'created' in value && value.created === false
  const status = (isOld && route.status_unless_created) || route.status
  return { status, headers, cookies, body: toJson(value) }
}

const HEADERS = Object.entries(RESULT_HEADERS)

/** What a result becomes: a text, or a value, which may come with cookies and headers. */
type Content = { cookies?: string[]; headers?: HeaderPair[] } & (
  | { text: string | Uint8Array; content_type: string }
  | { value: object }
)

interface ContentOptions {
  route: AnyRoute
  config: Config
  now: () => Micros
}

const toJsonContent = (value: object): Content => ({ value })

/** The kinds of responses that are not only JSON. */
const CONTENTS = {
  text: (text: string | Uint8Array, { route }: ContentOptions): Content => ({
    text,
    content_type: route.content_type ?? 'text/plain; charset=utf-8',
  }),
  document: ({ content_type, body }: { content_type: string; body: string }): Content => ({ text: body, content_type }),
  session: toSessionContent,
  device: (value: { device: string }, { config }: ContentOptions): Content => ({
    value,
    cookies: [deviceCookie(config, value.device)],
  }),
  binding: ({ binding, ...value }: { binding: string }, { config }: ContentOptions): Content => ({
    value,
    cookies: [bindingCookie(config, binding)],
  }),
}

/** The session of a sign-in, or of a result that comes with one. `undefined` ends the session. */
type SessionAnswer = Partial<SignedIn> & { signed_in?: SignedIn }

function toSessionContent(result: SessionAnswer | undefined, { config, now }: ContentOptions): Content {
  if (result === undefined) return { value: {}, cookies: clearedCookies(config) }
  // A token without a session is for the caller, who keeps it.
  if (!('session' in result) && result.token !== undefined) return { value: result }
  const { token, device, signed_in = token === undefined ? undefined : result, ...value } = result
  const cookies = signed_in ? sessionCookies(config, signed_in as SignedIn, now()) : []
  if (device !== undefined) cookies.push(deviceCookie(config, device))
  return { value, cookies, headers: signed_in ? [['x-session-rotated', '1']] : [] }
}

/** Converts a failure to a response in this format. Only a {@link ChatError} is disclosed. */
export function toFailure(error: ChatError, shape: FailureShape, requestId: string): Reply {
  const { status, retry_after_seconds } = error
  const headers: HeaderPair[] = [['content-type', shape.content_type], ...(shape.headers?.(error) ?? [])]
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
