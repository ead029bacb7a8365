import type { Config } from '../config/parse.ts'
import { RESULT_HEADERS } from '../core/headers.ts'

type Pair = [name: string, value: string]

/** What browsers are told about pages of other origins (the CORS protocol of the Fetch standard). */
export interface Cors {
  /** The origins whose pages may call. */
  origins: readonly string[]
  /** For every answer, whoever asks: what it is differs by origin, and a cache must know. */
  always: Pair[]
  /** For an answer to a page of this origin: that it may be read. */
  actual(origin: string): Pair[]
  /** Besides, for the question that comes before a call. */
  preflight(methods: string[]): Pair[]
}

/** Headers that a page may read besides the usual ones. */
const EXPOSED = [
  ...Object.keys(RESULT_HEADERS),
  'X-Request-Id',
  'X-Session-Rotated',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-RateLimit-Profile',
].join(', ')

/** Headers that a page may send besides the usual ones, and that of the CSRF token. */
const TAKEN = ['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID', 'X-Request-Id']

/** How long a browser need not ask again, in seconds: as long as Chromium remembers at most. */
const MAX_AGE = '7200'

/** Exactly the configured origins, and never `*`: cookies go along. */
export function createCors({ server, security }: Config): Cors {
  const origins = server.cors.allowed_origins
  const taken = [...TAKEN, security.csrf.header_name].join(', ')
  return {
    origins,
    always: origins.length > 0 ? [['vary', 'Origin']] : [],
    actual: (origin) => [
      ['access-control-allow-origin', origin],
      ['access-control-allow-credentials', 'true'],
      ['access-control-expose-headers', EXPOSED],
    ],
    preflight: (methods) => [
      ['access-control-allow-methods', methods.join(', ')],
      ['access-control-allow-headers', taken],
      ['access-control-max-age', MAX_AGE],
    ],
  }
}
