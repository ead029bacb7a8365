import type { KeyObject } from 'node:crypto'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import { ChatError } from '../../core/errors.ts'

/** The longest token that is read, in characters. */
const MAX_LENGTH = 8 * 1024

/** What a signed token must fulfil. */
export interface ClaimsRules {
  issuer: string
  /** One of these must be in its `aud`. */
  audience: string | string[]
  algorithms: readonly string[]
  /** The claims that it must have, besides `exp`, `iss` and `aud`. */
  required: readonly string[]
  /** The longest life of a token, from `iat` or from now to `exp`. */
  max_seconds: number
  /** How far the clock of the issuer may differ. */
  leeway_seconds: number
}

/** A token that is not valid, and why: a sentence for the log. */
export class TokenRefusal extends Error {
  override readonly name = 'TokenRefusal'
  /** Whether its time is over, and nothing else is wrong. */
  readonly is_expired: boolean

  constructor(reason: string, { is_expired = false }: { is_expired?: boolean } = {}) {
    super(reason)
    this.is_expired = is_expired
  }
}

/**
 * The claims of a signed token whose signature, issuer, audience and times are right. `exp` is a number.
 *
 * @param now microseconds since 1970
 * @throws TokenRefusal; ChatError `unavailable` while no keys can be read
 */
export async function verifyClaims(
  token: string,
  key: JWTVerifyGetKey | KeyObject | Uint8Array,
  { issuer, audience, algorithms, required, max_seconds, leeway_seconds }: ClaimsRules,
  now: number,
): Promise<JWTPayload & { exp: number }> {
  if (token.length > MAX_LENGTH) throw new TokenRefusal('it is too long')
  const { jwtVerify, errors } = await import('jose')
  const options = {
    ...{ issuer, audience, algorithms: [...algorithms], clockTolerance: leeway_seconds },
    requiredClaims: [...required, 'exp'],
    currentDate: new Date(now / 1000),
  }
  try {
    const { payload } = await (typeof key === 'function'
      ? jwtVerify(token, key, options)
      : jwtVerify(token, key, options))
    // The times are numbers: the library has compared them with the clock.
    const exp = payload.exp!
    const latest = now / 1_000_000 + leeway_seconds
    const { iat = latest } = payload
    if (exp - iat > max_seconds) throw new TokenRefusal(`it lives for longer than ${max_seconds} seconds`)
    if (iat > latest) throw new TokenRefusal('it is from the future')
    return { ...payload, exp }
  } catch (error) {
    if (error instanceof ChatError || error instanceof TokenRefusal) throw error
    throw new TokenRefusal((error as Error).message, { is_expired: error instanceof errors.JWTExpired })
  }
}
