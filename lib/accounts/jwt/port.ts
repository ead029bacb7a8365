import * as v from 'valibot'
import type { Config } from '../../api/config.ts'
import { AuthSection, jwtProblems, jwtSettings } from '../../config/auth.ts'
import { parseBearer } from '../../core/headers.ts'
import type { Identity, IdentityRequest } from '../../core/identity.ts'
import { digest } from '../../core/ids.ts'
import { type NamesOf, refuseUnknown } from '../../core/known-names.ts'
import { namesIn } from '../../core/schema-names.ts'
import { currentMicros } from '../../core/time.ts'
import { rememberVerified } from './tokens.ts'
import { createVerifier } from './verify.ts'

/** The options of {@link jwtIdentity}: the keys of `auth.jwt`. */
export type JwtOptions = Partial<Config['auth']['jwt']>

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
): (request: Pick<IdentityRequest, 'headers'>) => Promise<Identity | null> {
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
