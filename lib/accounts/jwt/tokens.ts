import * as v from 'valibot'
import { AuthSection, type JwtConfig, jwtProblems, jwtSettings } from '../../config/auth.ts'
import type { IdentityRequest } from '../../context.ts'
import { parseBearer } from '../../core/headers.ts'
import { digest } from '../../core/ids.ts'
import { type NamesOf, refuseUnknown } from '../../core/known-names.ts'
import { namesIn } from '../../core/schema-names.ts'
import { currentMicros } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import { createVerifier, type TokenIdentity, type VerifierDeps, type Verify } from './verify.ts'

/** The maximum number of verified tokens that are remembered, about ten megabytes; beyond it, the least recently used are dropped. */
const MAX_VERIFIED = 10_000

/** Who signed tokens are for. @throws ChatError as {@link createVerifier} */
export type FindBearer = (token: string, tokenHash: string) => Promise<TokenIdentity>

/** Verifies each token once: a signature costs more than the rest of most calls. */
function rememberVerified(verify: Verify, now: () => number): FindBearer {
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

/** The options of {@link jwtIdentity}: the keys of `auth.jwt`. */
export type JwtOptions = Partial<JwtConfig>

/**
 * A `ports.identity` that takes the signed token (JWT) of `Authorization: Bearer`, as `auth.jwt` does for a service without a
 * login of its host. Other requests have no caller: call it from a port of your own to recognise them otherwise.
 *
 * @param options the keys of `auth.jwt`: an issuer, an audience, and one of `secret`, `public_key` and `jwks_url`
 * @returns a function that throws ChatError `session_expired` or `unauthenticated` for a token that is not valid, with the reason
 *   as its `cause`, and `unavailable` while no keys can be read
 * @throws TypeError for unknown, wrong or contradictory options
 */
export function jwtIdentity(
  options: JwtOptions,
): (request: Pick<IdentityRequest, 'headers'>) => Promise<TokenIdentity | null> {
  const settings = settingsOf(options)
  const find = rememberVerified(createVerifier(settings, { now: currentMicros }), currentMicros)
  return async ({ headers }) => {
    const token = parseBearer(headers.get('authorization'))
    return token === undefined ? null : find(token, digest(token))
  }
}

function settingsOf(options: JwtOptions) {
  const { jwt } = AuthSection.wrapped.entries
  refuseUnknown('jwtIdentity', options, namesIn(jwt) as NamesOf<JwtOptions>)
  const { success, output, issues } = v.safeParse(jwt, options, { abortEarly: true })
  if (!success) {
    const [{ path, message }] = issues
    throw new TypeError(`jwtIdentity: ${path?.[0].key ?? 'the options'} ${message}`)
  }
  const [problem] = jwtProblems(output)
  if (problem) throw new TypeError(`jwtIdentity: ${problem.key} ${problem.message}`)
  const settings = jwtSettings(output)
  if (!settings) throw new TypeError('jwtIdentity: issuer must be set')
  return settings
}
