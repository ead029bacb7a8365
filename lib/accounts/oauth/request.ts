import * as oauth from 'oauth4webapi'
import { isSecureUrl } from '../../config/oauth.ts'
import { readAtMost } from '../../core/body.ts'
import { monotonicMicros } from '../../core/time.ts'
import { OutgoingFailure } from '../../outgoing/failure.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'

/** The deadline for all requests of one exchange, so that the browser gets a response within five seconds. */
const TIMEOUT_MS = 4_500

/** Far above any response of a provider; a larger one must not fill the memory. */
const MAX_BODY_BYTES = 64 * 1024

/** Why a provider could not be used, in our own words. */
export class RequestFailure extends Error {}

/** The request bodies of the library: forms, or none. */
type Sent = oauth.CustomFetchOptions<string, { toString(): string } | null | undefined>

/** How the requests to URLs that a document names are made. */
export interface NamedUrls {
  outgoing: Outgoing
  /** Whether a document from outside named a URL, which the operator has not seen. */
  isNamed: (url: string) => boolean
}

/** The options of all requests of one exchange: they share one deadline. */
export function requestOptions({ outgoing, isNamed }: NamedUrls) {
  const deadline = AbortSignal.timeout(TIMEOUT_MS)
  const end = monotonicMicros() + TIMEOUT_MS * 1000
  const remaining = () => Math.max(1, (end - monotonicMicros()) / 1000)
  return {
    // URLs are checked in `endpoints.ts`, including discovered ones.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url: string, { method, headers, body }: Sent) => {
      const sent = { method, headers, body: body?.toString() }
      if (isNamed(url)) return namedFetch(outgoing, url, { ...sent, timeout_ms: remaining() })
      return boundedFetch(url, { ...sent, body: sent.body ?? null, signal: deadline })
    },
  }
}

/** See {@link requestOptions}. */
export type Options = ReturnType<typeof requestOptions>

/** A `fetch` that follows no redirects, and reads a limited amount. */
async function boundedFetch(url: string, init: RequestInit & { signal: AbortSignal }): Promise<Response> {
  if (!isSecureUrl(url)) throw new RequestFailure('an address of it is neither https:// nor on this machine')
  const response = await fetch(url, { ...init, redirect: 'manual' })
  const { status, headers } = response
  if (!isTaken(status)) {
    await response.body?.cancel()
    throw new RequestFailure(`it answered with status ${status}`)
  }
  const { bytes: body, isWhole } = await readAtMost(response.body, MAX_BODY_BYTES)
  if (!isWhole) throw new RequestFailure('its answer was too large')
  return toResponse({ status, body, header: (name) => headers.get(name) })
}

/** A request to a URL that a document names: never to this machine or its network. */
async function namedFetch(
  outgoing: Outgoing,
  url: string,
  {
    headers: given,
    body: sent,
    ...options
  }: { method: string; headers: object; body: string | undefined; timeout_ms: number },
): Promise<Response> {
  const { status, headers, body, is_whole } = await outgoing.call(url, {
    ...options,
    headers: { ...given },
    ...(sent !== undefined && { body: sent }),
    max_body: MAX_BODY_BYTES,
    accepts: () => true,
    any_port: true,
  })
  if (!isTaken(status)) throw new RequestFailure(`it answered with status ${status}`)
  if (!is_whole) throw new RequestFailure('its answer was too large')
  return toResponse({ status, body, header: (name) => headers[name] ?? null })
}

function isTaken(status: number): boolean {
  return (status >= 200 && status < 300) || (status >= 400 && status < 600)
}

function toResponse({
  status,
  body,
  header,
}: {
  status: number
  body: Uint8Array<ArrayBuffer>
  header: (name: string) => string | null
}): Response {
  const kept = ['content-type', 'www-authenticate'].flatMap((name): [string, string][] => {
    const value = header(name)
    return value === null ? [] : [[name, value]]
  })
  return new Response(body.length > 0 ? body : null, { status, headers: kept })
}

/** What an operator may read about a failure: never a body, a token, or what the provider wrote in words. */
export function publicReason(error: unknown): string {
  if (error instanceof RequestFailure) return error.message
  if (error instanceof OutgoingFailure) return outgoingReason(error)
  if (error instanceof oauth.ResponseBodyError) {
    const said = /^\w{1,64}$/.test(error.error) ? `, ${error.error}` : ''
    return `it answered with status ${error.status}${said}`
  }
  const { name, message, cause } = error as Error & { cause?: { code?: unknown } | null }
  if (name === 'TimeoutError' || name === 'AbortError') return 'it took too long'
  if (cause instanceof Response) return `${message} (status ${cause.status})`
  // The library's own messages have the problem, their causes the details.
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
    return message
  return typeof cause?.code === 'string' ? cause.code : name
}

function outgoingReason({ reason, cause }: OutgoingFailure): string {
  if (reason === 'address_forbidden') return 'a URL of its discovery leads to this machine or its network'
  if (reason === 'timeout') return 'it took too long'
  const { code } = Object(cause) as { code?: unknown }
  return typeof code === 'string' ? code : `a request failed (${reason})`
}
