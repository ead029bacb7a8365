import { randomUUID } from 'node:crypto'
import { ServerResponse } from 'node:http'
import { derived } from '../../config/live.ts'
import type { Config } from '../../config/parse.ts'
import { isLocalhostName } from '../../core/addresses.ts'
import { createCors } from '../request/cors.ts'
import { isTokenOrigin } from '../request/csrf.ts'

/** A header and its value. */
export type HeaderPair = [name: string, value: string]

/** The headers that do not depend on the result. */
export interface CommonHeaders {
  /**
   * For every response, including errors and streams; `origin` is that of the calling page, `bears` whether the page has given
   * a token: most requests have no origin, and are not asked.
   */
  of(requestId: string, origin: string | null, bears?: () => boolean): HeaderPair[]
  /** For a preflight of a page of `origin` with these methods, and headers of its own; empty if it may not call. */
  preflight(origin: string | null, methods: string[], bears: () => boolean, taken?: readonly string[]): HeaderPair[]
}

/**
 * No response of the API is a page: it loads nothing, cannot be framed or embedded by another site, and sends no
 * referrer.
 */
const SECURITY: HeaderPair[] = [
  ['x-content-type-options', 'nosniff'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['referrer-policy', 'no-referrer'],
]

/** Half a year: long enough for returning users, short enough to be revoked. */
const HSTS: HeaderPair = ['strict-transport-security', 'max-age=15552000']

/** The id of a request: that of the caller, if it is plain, or a new one. */
export function toRequestId(headers: Headers): string {
  const given = headers.get('x-request-id')
  return given !== null && /^[\w.-]{8,64}$/.test(given) ? given : randomUUID()
}

/** Builds the common headers of a service once for each configuration: a request only selects them. */
export function createCommonHeaders(config: Config): CommonHeaders {
  const headers = derived(
    () => config.server,
    () => headersOf(config),
  )
  return {
    of: (...request) => headers().of(...request),
    preflight: (...request) => headers().preflight(...request),
  }
}

function headersOf(config: Config): CommonHeaders {
  const cors = createCors(config)
  const fixed = [...SECURITY, ...(ownsHttpsHost(config) ? [HSTS] : []), ...cors.always]
  const unlisted: HeaderPair[] = [...fixed, ['cross-origin-resource-policy', 'same-origin']]
  const listed = new Map(
    cors.origins.map((origin): [string, HeaderPair[]] => [
      origin,
      [...fixed, ['cross-origin-resource-policy', 'cross-origin'], ...cors.actual(origin)],
    ]),
  )
  const foreign = (origin: string | null, bears?: () => boolean): HeaderPair[] =>
    isTokenOrigin(origin, config) && bears?.()
      ? [...fixed, ['cross-origin-resource-policy', 'cross-origin'], ...cors.withToken(origin)]
      : unlisted
  return {
    of: (requestId, origin, bears) => [
      ['x-request-id', requestId],
      ...(listed.get(origin ?? '') ?? foreign(origin, bears)),
    ],
    preflight: (origin, methods, bears, taken = []) =>
      listed.has(origin ?? '') || (isTokenOrigin(origin, config) && bears()) ? cors.preflight(methods, taken) : [],
  }
}

/**
 * Whether the service owns the whole host, and is reached over HTTPS. Under a path another application owns the host
 * and decides for all of it; `localhost` is shared by all programs.
 */
function ownsHttpsHost({ server }: Config): boolean {
  if (!server.public_url) return false
  const { protocol, hostname, pathname } = new URL(server.public_url)
  return protocol === 'https:' && pathname === '/' && !isLocalhostName(hostname)
}

/**
 * Writes the head of a response. Middleware of a host that wraps `writeHead` may not understand a list of headers: old
 * versions of on-headers, by which express-session sets its cookie, do not.
 */
export function writeHead(response: ServerResponse, status: number, headers: readonly HeaderPair[]): void {
  if (response.writeHead === ServerResponse.prototype.writeHead) {
    // Not `flat()`, which takes twenty times as long.
    const lines: string[] = []
    for (const [name, value] of headers) lines.push(name, value)
    response.writeHead(status, lines)
    return
  }
  for (const [name, value] of headers) response.setHeader(name, value)
  response.writeHead(status)
}
