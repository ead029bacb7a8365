import type { Config } from '../../config/parse.ts'
import { RESULT_HEADERS } from '../../core/headers.ts'
import type { HeaderPair } from '../response/headers.ts'

/** The CORS headers for pages of other origins (Fetch standard). */
export interface Cors {
  /** The origins whose pages may call. */
  origins: readonly string[]
  /** For every response: it differs by origin, which a cache must know. */
  always: HeaderPair[]
  /** For a response to a page of this origin, so that the page can read it. */
  actual(origin: string): HeaderPair[]
  /** For a response to a page of this origin that calls with a token, without cookies. */
  withToken(origin: string): HeaderPair[]
  /** In addition, for a preflight; `taken` are headers that only this path takes. */
  preflight(methods: string[], taken: readonly string[]): HeaderPair[]
}

/** Headers that a page may read besides the safe-listed ones. */
const EXPOSED = [
  ...Object.keys(RESULT_HEADERS),
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'X-Request-Id',
  'X-Session-Rotated',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-RateLimit-Profile',
].join(', ')

/** Headers that a page may send besides the safe-listed ones and the CSRF token's. */
const TAKEN = [
  'Authorization',
  'Content-Digest',
  'Content-Type',
  'Idempotency-Key',
  'Last-Event-ID',
  'X-Request-Id',
  'X-UI-Version',
]

/** How long a browser may cache a preflight, in seconds: Chromium's maximum. */
const MAX_AGE = '7200'

/** Exactly the configured origins, and never `*` where cookies are sent along. */
export function createCors({ server, security }: Config): Cors {
  const origins = server.cors.allowed_origins
  const allowed = [...TAKEN, security.csrf.header_name].join(', ')
  return {
    origins,
    always: origins.length + server.cors.token_origins.length > 0 ? [['vary', 'Origin']] : [],
    actual: (origin) => [
      ['access-control-allow-origin', origin],
      ['access-control-allow-credentials', 'true'],
      ['access-control-expose-headers', EXPOSED],
    ],
    withToken: (origin) => [
      ['access-control-allow-origin', origin],
      ['access-control-expose-headers', EXPOSED],
    ],
    preflight: (methods, taken) => [
      ['access-control-allow-methods', methods.join(', ')],
      ['access-control-allow-headers', [allowed, ...taken].join(', ')],
      ['access-control-max-age', MAX_AGE],
    ],
  }
}
