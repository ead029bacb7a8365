import type { SignedIn } from '../auth/service.ts'
import type { Config } from '../config.ts'
import { fromInstant, SECOND } from '../ids.ts'
import { STATE_SECONDS } from '../oauth/service.ts'
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

/** Where HTTPS is used, a name that no neighbouring host can set (RFC 6265bis, section 4.1.3.2). */
export function bindingCookieName(config: Config): string {
  return config.security.cookie.secure ? '__Host-OAUTH_BINDING' : 'OAUTH_BINDING'
}

/**
 * What binds a sign-in through a provider to the browser that began it. `Lax`, whatever the session cookie is: the
 * browser comes back from another site.
 */
export function bindingCookie(config: Config, binding: string): string {
  const secure = config.security.cookie.secure ? '; Secure' : ''
  return `${bindingCookieName(config)}=${binding}; Path=/; Max-Age=${STATE_SECONDS}${secure}; HttpOnly; SameSite=Lax`
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
