import { oauthProviders } from '../../lib/config/oauth.ts'
import type { Config } from '../../lib/config/parse.ts'
import { isLoopback, isThisMachine } from '../../lib/core/addresses.ts'
import { type Finding, failure, ok, warning } from './finding.ts'

/** Checks that the URLs, the cookie settings and the providers of a configuration are consistent. Sends no request. */
export function checkAddresses(config: Config): Finding[] {
  const { public_url } = config.server
  const findings = public_url ? checkPublicUrl(config, new URL(public_url)) : checkWithoutUrl(config)
  return findings.length > 0 ? findings : [ok('addresses', 'The addresses and the cookie settings are consistent.')]
}

function checkWithoutUrl({ server }: Config): Finding[] {
  if (isLoopback(server.host)) return []
  return [
    warning(
      'public_url.missing',
      `server.host = ${server.host} accepts other machines, but server.public_url is not set.`,
      'Set server.public_url: links in mail, sign-in through providers and the check of origins need it.',
    ),
  ]
}

function checkPublicUrl(config: Config, url: URL): Finding[] {
  const isLocal = isThisMachine(url.hostname)
  return [
    ...checkCookies(config, url),
    ...checkOrigins(config, url),
    ...checkRedirects(config, url),
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
  const findings: Finding[] = []
  if (secure && protocol === 'http:') {
    const severity = isThisMachine(hostname) ? warning : failure
    findings.push(
      severity(
        'cookie.secure_over_http',
        'security.cookie.secure is true and server.public_url is http: browsers do not store such cookies, so no user can sign in.',
        'Set server.public_url to the https address, or security.cookie.secure = false on this machine only.',
      ),
    )
  }
  const name = domain.replace(/^\./, '').toLowerCase()
  if (name && name !== hostname && !hostname.endsWith(`.${name}`)) {
    findings.push(
      failure(
        'cookie.other_domain',
        `security.cookie.domain = ${domain} is not the host of server.public_url, ${hostname}, nor a parent domain of it: browsers refuse the cookies.`,
        'Leave security.cookie.domain empty, or set it to the host or a parent domain.',
      ),
    )
  }
  return findings
}

function checkOrigins({ server, security }: Config, url: URL): Finding[] {
  const { same_site } = security.cookie
  return server.cors.allowed_origins.flatMap((origin) => {
    if (same_site === 'none' || isSameSite(new URL(origin), url)) return []
    return warning(
      'cors.other_site',
      `Pages of ${origin} belong to another site than ${url.host}: with security.cookie.same_site = ${same_site} they send no cookies.`,
      'Serve them from the same site, use API keys in them, or set same_site = "none" with secure = true.',
    )
  })
}

function checkRedirects(config: Config, url: URL): Finding[] {
  const providers = oauthProviders(config)
  const findings = providers.flatMap(({ name, redirect_uri }): Finding[] => {
    const redirect = new URL(redirect_uri)
    const path = `${url.pathname.replace(/\/+$/, '')}/api/oauth/${name}/callback`
    if (redirect.host === url.host && redirect.protocol === url.protocol && redirect.pathname === path) return []
    return [
      warning(
        'oauth.other_redirect',
        `oauth.${name}.redirect_uri = ${redirect_uri} is not ${url.origin}${path}: users who sign in there return to another address.`,
        `Leave oauth.${name}.redirect_uri out and register ${url.origin}${path} with the provider.`,
      ),
    ]
  })
  if (providers.length > 0 && config.security.cookie.same_site === 'strict') {
    findings.push(
      warning(
        'cookie.strict_with_providers',
        'With security.cookie.same_site = strict, users who return from a provider look signed out until the next click.',
        'Set security.cookie.same_site = "lax".',
      ),
    )
  }
  return findings
}

/** Whether browsers treat both as one site, by the last two labels; under a two-label public suffix they are stricter. */
function isSameSite(one: URL, other: URL): boolean {
  const site = ({ hostname }: URL) => (/^[\d.]+$|:/.test(hostname) ? hostname : hostname.split('.').slice(-2).join('.'))
  return one.protocol === other.protocol && site(one) === site(other)
}
