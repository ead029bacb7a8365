import { isIPv4, isIPv6 } from 'node:net'
import type { AuthorizationServer } from 'oauth4webapi'
import { isLocalhostName, toBlockList } from '../../core/addresses.ts'
import { parseUrl } from '../../core/url.ts'
import { RequestFailure } from './request.ts'

/** The URLs of a discovery document that the service calls or redirects users to. */
const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'] as const

/** Issuers with a documented token endpoint on another host. */
const TOKEN_HOSTS: Record<string, readonly string[]> = {
  'https://accounts.google.com': ['oauth2.googleapis.com'],
}

const LOOPBACK = toBlockList(['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128'])
const PRIVATE = toBlockList([
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16'],
  ...['fc00::/7', 'fe80::/10', '64:ff9b::/96'],
])

/**
 * Checks discovered URLs. An issuer on the network must not name addresses of this machine or its network: the service
 * would send requests that the issuer itself cannot send. The client secret is sent only to the issuer's own site, or
 * to configured hosts.
 *
 * @param tokenHosts hosts that may receive the client secret besides the issuer's
 * @throws RequestFailure
 */
export function assertEndpoints(issuer: URL, metadata: AuthorizationServer, tokenHosts: readonly string[] = []): void {
  for (const name of ENDPOINTS) {
    const host = hostOf(metadata[name])
    if (host !== undefined && host !== issuer.hostname && reachOf(host) < reachOf(issuer.hostname))
      throw new RequestFailure(`its ${name} is an address of this machine or of its network`)
  }
  const host = hostOf(metadata.token_endpoint)
  const allowed = [...tokenHosts, ...(TOKEN_HOSTS[issuer.href.replace(/\/$/, '')] ?? [])]
  if (host !== undefined && !isOfSite(host, issuer.hostname) && !allowed.includes(host))
    throw new RequestFailure(`its token_endpoint is on ${host.slice(0, 253)}, which is not listed in token_hosts`)
}

/** Whether a host is that of the site or a subdomain; all hosts of this machine are one site. */
function isOfSite(host: string, site: string): boolean {
  return host === site || host.endsWith(`.${site}`) || (reachOf(host) === 0 && reachOf(site) === 0)
}

/** The scope of an address: 0 for this machine, 1 for its network, 2 for public addresses. */
function reachOf(hostname: string): 0 | 1 | 2 {
  const host = hostname.replace(/^\[|\]$|\.$/g, '')
  if (isLocalhostName(host)) return 0
  const family = isIPv4(host) ? 'ipv4' : isIPv6(host) ? 'ipv6' : undefined
  if (family === undefined) return 2
  if (LOOPBACK.check(host, family)) return 0
  return PRIVATE.check(host, family) ? 1 : 2
}

/** Lower case, and IPv4 in its usual form, as `URL` writes it. */
function hostOf(address: string | undefined): string | undefined {
  return address === undefined ? undefined : parseUrl(address)?.hostname
}
