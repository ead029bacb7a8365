import type { Config } from '../config/parse.ts'

/** What is known of where a request comes from. */
export interface Provenance {
  headers: Pick<Headers, 'get'>
  /** Where it was sent; on Node made of its `Host`, elsewhere perhaps without one. */
  url: { host: string }
}

/**
 * Whether the page of another site sends this, which `server.cors.allowed_origins` does not name.
 *
 * Browsers say so themselves (`Sec-Fetch-Site`), to HTTPS and to loopback; what they do not vouch for is taken for
 * foreign. Old ones, and all of them over plain HTTP, send their `Origin` with whatever may change something, and that
 * has to be ours. What sends neither is no browser: nobody's cookies are there to be used by somebody else.
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

/**
 * The origins of our own pages: that of `server.public_url`, else those of the host that the request was sent to.
 *
 * A `Host` can be made up, but not for somebody else: the browser of whoever is signed in names the host it really
 * calls, and a page can change neither that nor its own `Origin`. Which scheme people see, a proxy knows better than
 * we do; where cookies go over HTTPS only, plain HTTP is no page of ours.
 */
function ownOrigins(host: string, { server, security }: Config): string[] {
  if (server.public_url) return [new URL(server.public_url).origin]
  const schemes = security.cookie.secure ? ['https'] : ['https', 'http']
  return schemes.flatMap((scheme) => {
    const address = `${scheme}://${host}`
    return URL.canParse(address) ? [new URL(address).origin] : []
  })
}
