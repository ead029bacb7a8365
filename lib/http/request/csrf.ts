import type { Config } from '../../config/parse.ts'
import { ChatError } from '../../core/errors.ts'
import { digest, sameDigest } from '../../core/ids.ts'
import { parseUrl } from '../../core/url.ts'

/** The origin of a request, as far as known. */
export interface Provenance {
  headers: Pick<Headers, 'get'>
  /** The URL of the request; on Node built from its `Host`, elsewhere maybe without one. */
  url: { host: string }
}

/**
 * Whether a page of another site sends this, unless `server.cors.allowed_origins` lists it.
 *
 * Browsers send `Sec-Fetch-Site` over HTTPS and to loopback; a request that they do not vouch for counts as foreign.
 * Old ones, and all of them over plain HTTP, send their `Origin` with every request that may change data, and that must
 * be the service's own. A request with neither is not from a browser: it has no user's cookies to misuse.
 */
export function isForeign({ headers, url }: Provenance, config: Config): boolean {
  const origin = headers.get('origin')
  if (isListed(origin, config)) return false
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  return origin !== null && !ownOrigins(headers.get('host') ?? url.host, config).includes(origin)
}

/** Whether it is the origin of a page that may call the service from elsewhere. */
export function isListed(origin: string | null, { server }: Config): boolean {
  return origin !== null && server.cors.allowed_origins.includes(origin)
}

/** Whether pages of this origin may call with a token, which no other page can make their browser send. */
export function isTokenOrigin(origin: string | null, { server }: Config): origin is string {
  const { token_origins } = server.cors
  return origin !== null && (token_origins.includes('*') || token_origins.includes(origin))
}

/** Whether a request has a token, or is the preflight of one. */
export function bearsToken({ headers }: Pick<Provenance, 'headers'>, search: string): boolean {
  return (
    headers.get('authorization') !== null ||
    search.includes('ticket=') ||
    /(^|[ ,])authorization([ ,]|$)/.test(headers.get('access-control-request-headers') ?? '')
  )
}

/**
 * The origins of the service's own pages: that of `server.public_url`, else those of the host of the request.
 *
 * A `Host` can be forged, but not for another user: the browser of a signed-in user sends the host it really calls, and
 * a page can change neither that nor its own `Origin`. A proxy knows the scheme better than the service; if cookies are
 * sent over HTTPS only, plain HTTP is not the service's own origin.
 */
function ownOrigins(host: string, { server, security }: Config): string[] {
  if (server.public_url) return [new URL(server.public_url).origin]
  const schemes = security.cookie.secure ? ['https'] : ['https', 'http']
  return schemes.flatMap((scheme) => parseUrl(`${scheme}://${host}`)?.origin ?? [])
}

/** A request with its cookies. */
type Cookied = Pick<Provenance, 'headers'> & { cookies: ReadonlyMap<string, string> }

/**
 * The header, the cookie and the session must have the same token: a cookie alone may have been set by a neighbouring
 * host. From a listed origin of another site the browser does not send the cookie (`SameSite=Strict`); there the
 * browser vouches for the page, and the page for the token.
 *
 * @throws ChatError `csrf_failed`
 */
export function assertCsrf(config: Config, { headers, cookies }: Cookied, csrfHash: string): void {
  const { enabled, header_name, cookie_name } = config.security.csrf
  if (!enabled) return
  const [header, cookie] = [headers.get(header_name), cookies.get(cookie_name)]
  const isRepeated = header === cookie || (cookie === undefined && isListed(headers.get('origin'), config))
  if (!header || !isRepeated || !sameDigest(digest(header), csrfHash)) throw new ChatError('csrf_failed')
}
