import { createPublicKey } from 'node:crypto'
import type { JWTPayload } from 'jose'
import * as v from 'valibot'
import type { JwtSettings } from '../../config/auth.ts'
import type { Role } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { Identity, Log } from '../../ports.ts'
import { HostIdentity } from '../identities/schema.ts'
import { createKeySet } from './key-set.ts'

/** The longest token that is read, in characters. */
const MAX_LENGTH = 8 * 1024

/** What a token says of its person, as it can be stored. */
export type TokenIdentity = Omit<HostIdentity, 'roles'> & { roles?: Role[]; issued_at: number; expires_at: number }

/** Who a signed token is for. */
export type Verify = (token: string) => Promise<TokenIdentity>

/** What a verifier needs of its service. */
export interface VerifierDeps {
  /** Microseconds since 1970. */
  now: () => number
  log?: Pick<Log, 'info' | 'warn'> | undefined
}

/**
 * Verifies signed tokens, and reads who they are for.
 *
 * @returns a function that throws ChatError `session_expired` for a token that has expired; `unauthenticated` for any other that is
 *   not valid, with the reason in the log; `unavailable` while no keys can be read
 */
export function createVerifier(settings: JwtSettings, { now, log }: VerifierDeps): Verify {
  const { issuer, audience, algorithms, max_seconds, leeway_seconds } = settings
  const key = keyOf(settings, log)
  const options = {
    issuer,
    audience,
    algorithms: [...algorithms],
    clockTolerance: leeway_seconds,
    requiredClaims: ['iat', 'exp', settings.subject],
  }

  function refuse(reason: string): never {
    log?.info('A signed token was refused', { reason })
    throw new ChatError('unauthenticated', { cause: new Error(reason) })
  }

  async function verify(token: string): Promise<JWTPayload> {
    const { jwtVerify, errors } = await import('jose')
    const currentDate = new Date(now() / 1000)
    try {
      const of = { ...options, currentDate }
      return (await (typeof key === 'function' ? jwtVerify(token, key, of) : jwtVerify(token, key, of))).payload
    } catch (error) {
      if (error instanceof ChatError) throw error
      if (error instanceof errors.JWTExpired) throw new ChatError('session_expired')
      return refuse((error as Error).message)
    }
  }

  return async (token) => {
    if (token.length > MAX_LENGTH) refuse('it is too long')
    const claims = await verify(token)
    // Both are numbers: the library has compared them with the clock.
    const [issued_at, expires_at] = [claims.iat!, claims.exp!]
    if (expires_at - issued_at > max_seconds) refuse(`it lives for longer than ${max_seconds} seconds`)
    if (issued_at > now() / 1_000_000 + leeway_seconds) refuse('it is from the future')
    const subject = claims[settings.subject]
    const said = { ...namesIn(claims, settings), subject, issued_at, expires_at }
    const { success, output } = v.safeParse(HostIdentity, said, { abortPipeEarly: true })
    if (!success) return refuse(`its ${settings.subject} is no text of 1 to 255 characters`)
    const { roles, ...rest } = output
    const known = roles?.filter((role) => role !== undefined)
    return { ...rest, ...(known && { roles: known }), issued_at, expires_at }
  }
}

function keyOf({ secret, public_key, jwks_url }: JwtSettings, log: VerifierDeps['log']) {
  if (secret !== undefined) return new TextEncoder().encode(secret)
  if (public_key !== undefined) return createPublicKey(public_key)
  return createKeySet(jwks_url!, (reason) => log?.warn('The keys of signed tokens cannot be read', { reason }))
}

/** Claims of other types than these count as missing. */
function namesIn(claims: JWTPayload, settings: JwtSettings): Omit<Identity, 'subject'> {
  const text = (field: 'username' | 'display_name' | 'avatar_url' | 'email') => {
    const value = claims[settings[field]]
    return typeof value === 'string' && { [field]: value }
  }
  const roles = claims[settings.roles]
  return {
    ...text('username'),
    ...text('display_name'),
    ...text('avatar_url'),
    ...(claims.email_verified === true && text('email')),
    ...(roles !== undefined && {
      roles: [roles].flat().filter((role) => settings.admin || role !== 'admin') as Role[],
    }),
  }
}
