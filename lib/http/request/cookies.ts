import { STATE_SECONDS } from '../../accounts/oauth/service.ts'
import { DEVICE_SECONDS } from '../../accounts/passwords/store-devices.ts'
import type { SignedIn } from '../../accounts/sessions/service.ts'
import type { Config } from '../../config/parse.ts'
import { fromInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import type { Micros } from '../../storage/sql.ts'

/** The cookies of a new session: the token, which scripts cannot read, and the CSRF token, which they must (interface: Authentication). */
export function sessionCookies(config: Config, signedIn: SignedIn, now: Micros): string[] {
  const lifetime = Math.max(0, Math.ceil((fromInstant(signedIn.session.absolute_expires_at) - now) / SECOND))
  return cookies(config, signedIn.token, signedIn.csrf_token, lifetime)
}

/** The token of a known browser. Signing out keeps it. */
export function deviceCookie(config: Config, token: string): string {
  return httpOnly(config, deviceCookieName(config), token, DEVICE_SECONDS)
}

/**
 * Its name starts with that of the session cookie, so that services on one host stay apart, and a prefix applies to
 * both.
 */
export function deviceCookieName(config: Config): string {
  return `${config.session.session_cookie_name}-DEVICE`
}

/** The cookies of a session, cleared. */
export function clearedCookies(config: Config): string[] {
  return cookies(config, '', '', 0)
}

/** With HTTPS, a name that no neighbouring host can set (RFC 6265bis, section 4.1.3.2). */
export function bindingCookieName(config: Config): string {
  const { prefix, secure } = config.security.cookie
  return `${secure ? '__Host-' : ''}${prefix}OAUTH_BINDING`
}

/**
 * Binds a sign-in through a provider to the browser that started it. Always `Lax`: the browser returns from another
 * site.
 */
export function bindingCookie(config: Config, binding: string): string {
  const secure = config.security.cookie.secure ? '; Secure' : ''
  return `${bindingCookieName(config)}=${binding}; Path=/; Max-Age=${STATE_SECONDS}${secure}; HttpOnly; SameSite=Lax`
}

function cookies(config: Config, token: string, csrfToken: string, maxAge: number): string[] {
  return [
    httpOnly(config, config.session.session_cookie_name, token, maxAge),
    `${config.security.csrf.cookie_name}=${csrfToken}; ${common(config, maxAge)}; SameSite=Strict`,
  ]
}

function httpOnly(config: Config, name: string, value: string, maxAge: number): string {
  const same_site = SAME_SITE[config.security.cookie.same_site]
  return `${name}=${value}; ${common(config, maxAge)}; HttpOnly; SameSite=${same_site}`
}

function common(config: Config, maxAge: number): string {
  const { domain, secure } = config.security.cookie
  return `Path=/; Max-Age=${maxAge}${domain ? `; Domain=${domain}` : ''}${secure ? '; Secure' : ''}`
}

const SAME_SITE = { lax: 'Lax', strict: 'Strict', none: 'None' } as const
