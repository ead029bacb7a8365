import * as oauth from 'oauth4webapi'
import { isSecureUrl } from '../../config/oauth.ts'
import { readAtMost } from '../../core/body.ts'

/** The deadline for all requests of one exchange, so that the browser gets a response within five seconds. */
const TIMEOUT_MS = 4_500

/** Far above any response of a provider; a larger one must not fill the memory. */
const MAX_BODY_BYTES = 64 * 1024

/** Why a provider could not be used, in our own words. */
export class RequestFailure extends Error {}

/** The request bodies of the library: forms, or none. */
type Sent = oauth.CustomFetchOptions<string, { toString(): string } | null | undefined>

/** The options of all requests of one exchange: they share one deadline. */
export function requestOptions() {
  const deadline = AbortSignal.timeout(TIMEOUT_MS)
  return {
    // URLs are checked in `endpoints.ts`, including discovered ones.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url: string, { method, headers, body }: Sent) =>
      boundedFetch(url, { method, headers, body: body?.toString() ?? null, signal: deadline }),
  }
}

/** See {@link requestOptions}. */
export type Options = ReturnType<typeof requestOptions>

/** A `fetch` that follows no redirects, and reads a limited amount. */
async function boundedFetch(url: string, init: RequestInit & { signal: AbortSignal }): Promise<Response> {
  if (!isSecureUrl(url)) throw new RequestFailure('an address of it is neither https:// nor on this machine')
  const response = await fetch(url, { ...init, redirect: 'manual' })
  const { status, headers } = response
  if (status < 200 || status > 599 || (status >= 300 && status < 400)) {
    await response.body?.cancel()
    throw new RequestFailure(`it answered with status ${status}`)
  }
  const { bytes: body, isWhole } = await readAtMost(response.body, MAX_BODY_BYTES)
  if (!isWhole) throw new RequestFailure('its answer was too large')
  const kept = ['content-type', 'www-authenticate'].flatMap((name): [string, string][] => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  return new Response(body.length > 0 ? body : null, { status, headers: kept })
}

/** What an operator may read about a failure: never a body, a token, or what the provider wrote in words. */
export function publicReason(error: unknown): string {
  if (error instanceof RequestFailure) return error.message
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
