import type { SignedIn } from '../auth/service.ts'
import type { Config } from '../config.ts'
import { fromInstant, SECOND } from '../ids.ts'
import type { Micros } from '../storage/sql.ts'

/** The cookies of a new session: the token, which scripts cannot read, and the CSRF token, which they must (interface: Authentication). */
export function sessionCookies(config: Config, signedIn: SignedIn, now: Micros): string[] {
  const lifetime = Math.max(0, Math.ceil((fromInstant(signedIn.session.absolute_expires_at) - now) / SECOND))
  return cookies(config, signedIn.token, signedIn.csrf_token, lifetime)
}

/** The same cookies, cleared. */
export function clearedCookies(config: Config): string[] {
  return cookies(config, '', '', 0)
}

function cookies(config: Config, token: string, csrfToken: string, maxAge: number): string[] {
  const { domain, secure, same_site } = config.security.cookie
  const common = `Path=/; Max-Age=${maxAge}${domain ? `; Domain=${domain}` : ''}${secure ? '; Secure' : ''}`
  return [
    `${config.session.session_cookie_name}=${token}; ${common}; HttpOnly; SameSite=${SAME_SITE[same_site]}`,
    `${config.security.csrf.cookie_name}=${csrfToken}; ${common}; SameSite=Strict`,
  ]
}

const SAME_SITE = { lax: 'Lax', strict: 'Strict', none: 'None' } as const
