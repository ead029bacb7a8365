import { oauthProviders } from '../../lib/config/oauth.ts'
import type { Config } from '../../lib/config/parse.ts'
import { isLoopback } from '../config/warnings.ts'
import { type Finding, failure, ok, warning } from './finding.ts'

/** Whether the addresses, the cookies and the providers of a configuration go together. Nothing is asked of anybody. */
export function checkAddresses(config: Config): Finding[] {
  const { public_url } = config.server
  const found = public_url ? checkPublic(config, new URL(public_url)) : checkWithout(config)
  return found.length > 0 ? found : [ok('addresses', 'The addresses and the cookies go together.')]
}

function checkWithout({ server }: Config): Finding[] {
  if (isLoopback(server.host)) return []
  return [
    warning(
      'public_url.missing',
      `server.host = ${server.host} is for other machines, and server.public_url does not say what they call it.`,
      'Set server.public_url: links in mail, sign-in through providers and the check of origins need it.',
    ),
  ]
}

function checkPublic(config: Config, url: URL): Finding[] {
  const isLocal = isLocalHost(url.hostname)
  return [
    ...checkCookies(config, url),
    ...checkOrigins(config, url),
    ...checkReturns(config, url),
    ...(url.protocol === 'https:' && !isLocal && config.server.trusted_proxies.length === 0
      ? [
          warning(
            'trusted_proxies.missing',
            'Behind the proxy of an https address all clients look like one: server.trusted_proxies is empty.',
            'Set server.trusted_proxies to the address the proxy connects from, 127.0.0.1 on the same machine.',
          ),
        ]
      : []),
  ]
}

function checkCookies({ security }: Config, { protocol, hostname }: URL): Finding[] {
  const { secure, domain } = security.cookie
  const found: Finding[] = []
  if (secure && protocol === 'http:') {
    const say = isLocalHost(hostname) ? warning : failure
    found.push(
      say(
        'cookie.secure_over_http',
        'security.cookie.secure is true and server.public_url is http: browsers keep no such cookie, so nobody can sign in.',
        'Set server.public_url to the https address, or security.cookie.secure = false on this machine only.',
      ),
    )
  }
  const name = domain.replace(/^\./, '').toLowerCase()
  if (name && name !== hostname && !hostname.endsWith(`.${name}`)) {
    found.push(
      failure(
        'cookie.other_domain',
        `security.cookie.domain = ${domain} is not the host of server.public_url, ${hostname}, nor above it: browsers refuse the cookies.`,
        'Leave security.cookie.domain empty, or name the host or a domain above it.',
      ),
    )
  }
  return found
}

function checkOrigins({ server, security }: Config, url: URL): Finding[] {
  const { same_site } = security.cookie
  return server.cors.allowed_origins.flatMap((origin) => {
    if (same_site === 'none' || isSameSite(new URL(origin), url)) return []
    return warning(
      'cors.other_site',
      `Pages of ${origin} are of another site than ${url.host}: with security.cookie.same_site = ${same_site} they call without cookies.`,
      'Serve them from the same site, have them use API keys, or set same_site = "none" with secure = true.',
    )
  })
}

function checkReturns(config: Config, url: URL): Finding[] {
  const providers = oauthProviders(config)
  const found = providers.flatMap(({ name, redirect_uri }): Finding[] => {
    const back = new URL(redirect_uri)
    const path = `${url.pathname.replace(/\/+$/, '')}/api/oauth/${name}/callback`
    if (back.host === url.host && back.protocol === url.protocol && back.pathname === path) return []
    return [
      warning(
        'oauth.other_redirect',
        `oauth.${name}.redirect_uri = ${redirect_uri} is not ${url.origin}${path}: who signs in there comes back to somewhere else.`,
        `Leave oauth.${name}.redirect_uri out and register ${url.origin}${path} with the provider.`,
      ),
    ]
  })
  if (providers.length > 0 && config.security.cookie.same_site === 'strict') {
    found.push(
      warning(
        'cookie.strict_with_providers',
        'With security.cookie.same_site = strict, who comes back from a provider looks signed out until the next click.',
        'Set security.cookie.same_site = "lax".',
      ),
    )
  }
  return found
}

/** Whether browsers take both for one site, by the last two names: of a registry with two of its own they take fewer. */
function isSameSite(one: URL, other: URL): boolean {
  const site = ({ hostname }: URL) => (/^[\d.]+$|:/.test(hostname) ? hostname : hostname.split('.').slice(-2).join('.'))
  return one.protocol === other.protocol && site(one) === site(other)
}

/** Whether `hostname`, as a URL has it, is this machine for a browser. */
export function isLocalHost(hostname: string): boolean {
  return isLoopback(hostname.replace(/^\[|\]$/g, '')) || hostname.endsWith('.localhost')
}
