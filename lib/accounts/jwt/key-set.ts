import type { FlattenedJWSInput, JSONWebKeySet, JWTHeaderParameters, JWTVerifyGetKey } from 'jose'
import { readAtMost } from '../../core/body.ts'
import { ChatError } from '../../core/errors.ts'
import { singleFlight } from '../../core/scheduling/once.ts'
import { monotonicMicros } from '../../core/time.ts'
import { DAY, SECOND } from '../../core/units.ts'

/** How long a host may take to answer with its keys. */
const TIMEOUT_MS = 5_000

/** Far above any set of keys. */
const MAX_BYTES = 256 * 1024

/** The shortest time between two requests for the keys, after the first. */
const PAUSE = 30 * SECOND

/** How long known keys are used without an answer of their host. */
const MAX_AGE = DAY

/** Public keys at a URL. */
export interface KeySet {
  /** The key of a token. @throws ChatError `unavailable` while there are none */
  find: JWTVerifyGetKey
  /** Reads the keys, if that is due. @returns whether there are any */
  load(): Promise<boolean>
}

/**
 * The public keys at a URL: read when the first token needs one, when a token names an unknown one, and after a day. One
 * request at a time.
 *
 * @param read requests them
 */
export function createKeySet(read: () => Promise<JSONWebKeySet>, onFailure: (reason: string) => void): KeySet {
  let known: { find: JWTVerifyGetKey; at: number } | undefined
  let asked = Number.NEGATIVE_INFINITY

  const refresh = singleFlight(async () => {
    asked = monotonicMicros()
    try {
      const { createLocalJWKSet } = await import('jose')
      known = { find: createLocalJWKSet(await read()), at: asked }
    } catch (error) {
      onFailure(reasonOf(error))
    }
  })

  /** Waits for a request in progress; begins one only if the last is long enough ago. */
  async function mayRefresh(): Promise<void> {
    if (refresh.current() || monotonicMicros() - asked >= PAUSE) await refresh()
  }

  const isFresh = () => known !== undefined && monotonicMicros() - known.at < MAX_AGE

  async function load(): Promise<boolean> {
    if (!isFresh()) await mayRefresh()
    return isFresh()
  }

  async function find(header: JWTHeaderParameters, token: FlattenedJWSInput) {
    if (!(await load()) || !known) throw new ChatError('unavailable', { message: NO_KEYS })
    const { find } = known
    try {
      return await find(header, token)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_JWKS_NO_MATCHING_KEY') throw error
      await mayRefresh()
      if (known.find === find) throw error
      return known.find(header, token)
    }
  }

  return { find, load }
}

const NO_KEYS = 'The keys of signed tokens cannot be read at the moment.'

/** The keys at a URL that the operator has configured. */
export async function fetchKeys(url: string): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: KEYS_HEADERS,
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const { bytes, isWhole } = await readAtMost(response.body, MAX_BYTES)
  if (response.status !== 200) throw new Error(`it answered with status ${response.status}`)
  if (!isWhole) throw new Error('its answer is too large')
  return JSON.parse(new TextDecoder().decode(bytes))
}

/** The headers of a request for keys. */
export const KEYS_HEADERS = { accept: 'application/jwk-set+json, application/json' }

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: unknown } | null }
  if (name === 'TimeoutError' || name === 'AbortError') return 'it took too long'
  return typeof cause?.code === 'string' ? cause.code : message
}
