import type { Config } from '../config/parse.ts'
import { isLocalhostName } from '../core/addresses.ts'
import { createCors } from './cors.ts'

type Pair = [name: string, value: string]

/** The headers that do not depend on what is answered. */
export interface CommonHeaders {
  /** What every answer carries, errors and streams included; `origin` is that of the page that asks. */
  of(requestId: string, origin: string | null): Pair[]
  /** What a browser has to be told before a page of `origin` may call with these methods; nothing, where it may not. */
  preflight(origin: string | null, methods: string[]): Pair[]
}

/**
 * No answer of ours is a page: it loads nothing, is framed by nobody, is part of no page of another site, and says
 * nothing of where somebody came from.
 */
const SECURITY: Pair[] = [
  ['x-content-type-options', 'nosniff'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['referrer-policy', 'no-referrer'],
]

/** Half a year: long enough for whoever comes back, short enough to be regretted. */
const HSTS: Pair = ['strict-transport-security', 'max-age=15552000']

/** Puts the common headers of a service together, once: a request only picks. */
export function createCommonHeaders(config: Config): CommonHeaders {
  const cors = createCors(config)
  const fixed = [...SECURITY, ...(ownsHttpsHost(config) ? [HSTS] : []), ...cors.always]
  const unlisted: Pair[] = [...fixed, ['cross-origin-resource-policy', 'same-origin']]
  const listed = new Map(
    cors.origins.map((origin): [string, Pair[]] => [
      origin,
      [...fixed, ['cross-origin-resource-policy', 'cross-origin'], ...cors.actual(origin)],
    ]),
  )
  return {
    of: (requestId, origin) => [['x-request-id', requestId], ...((origin !== null && listed.get(origin)) || unlisted)],
    preflight: (origin, methods) => (origin !== null && listed.has(origin) ? cors.preflight(methods) : []),
  }
}

/**
 * Whether the whole host is ours, and people reach it over HTTPS. Under a path it belongs to somebody else, who decides
 * for all of it; `localhost` is everybody's.
 */
function ownsHttpsHost({ server }: Config): boolean {
  if (!server.public_url) return false
  const { protocol, hostname, pathname } = new URL(server.public_url)
  return protocol === 'https:' && pathname === '/' && !isLocalhostName(hostname)
}
