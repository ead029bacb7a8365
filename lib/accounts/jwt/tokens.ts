import { type JwtConfig, jwtSettings } from '../../config/auth.ts'
import { SECOND } from '../../core/units.ts'
import { createVerifier, type TokenIdentity, type VerifierDeps, type Verify } from './verify.ts'

/** The maximum number of verified tokens that are remembered, about ten megabytes; beyond it, the least recently used are dropped. */
const MAX_VERIFIED = 10_000

/** Who signed tokens are for. @throws ChatError as {@link createVerifier} */
export type FindBearer = (token: string, tokenHash: string) => Promise<TokenIdentity>

/** Verifies each token once: a signature costs more than the rest of most calls. */
export function rememberVerified(verify: Verify, now: () => number): FindBearer {
  const verified = new Map<string, TokenIdentity>()
  return async (token, tokenHash) => {
    let identity = verified.get(tokenHash)
    verified.delete(tokenHash)
    if (!identity || identity.expires_at * SECOND <= now()) identity = await verify(token)
    verified.set(tokenHash, identity)
    const [oldest] = verified.keys()
    if (verified.size > MAX_VERIFIED) verified.delete(oldest!)
    return identity
  }
}

/** What finds the callers of a service, where `auth.jwt` is configured. */
export function createBearers(jwt: JwtConfig, deps: VerifierDeps): FindBearer | undefined {
  const settings = jwtSettings(jwt)
  return settings && rememberVerified(createVerifier(settings, deps), deps.now)
}
