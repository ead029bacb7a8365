import { createPublicKey } from 'node:crypto'
import type { JWTPayload } from 'jose'
import * as v from 'valibot'
import type { JwtSettings } from '../../config/auth.ts'
import type { Role } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { Identity, Log } from '../../ports.ts'
import { HostIdentity } from '../identities/schema.ts'
import { type ClaimsRules, TokenRefusal, verifyClaims } from './claims.ts'
import { createKeySet, fetchKeys } from './key-set.ts'

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
  const rules: ClaimsRules = { ...settings, required: ['iat', settings.subject] }
  const key = keyOf(settings, log)

  function refuse(reason: string): never {
    log?.info('A signed token was refused', { reason })
    throw new ChatError('unauthenticated', { cause: new Error(reason) })
  }

  async function verify(token: string): Promise<JWTPayload & { exp: number }> {
    try {
      return await verifyClaims(token, key, rules, now())
    } catch (error) {
      if (!(error instanceof TokenRefusal)) throw error
      if (error.is_expired) throw new ChatError('session_expired')
      return refuse(error.message)
    }
  }

  return async (token) => {
    const claims = await verify(token)
    // It is a required one, and a number: the library has compared it with the clock.
    const [issued_at, expires_at] = [claims.iat!, claims.exp]
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
  const onFailure = (reason: string) => log?.warn('The keys of signed tokens cannot be read', { reason })
  return createKeySet(() => fetchKeys(jwks_url!), onFailure).find
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
