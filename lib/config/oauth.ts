import * as v from 'valibot'
import type { Config } from '../api/config.ts'
import { isLoopback } from '../core/addresses.ts'
import { parseUrl } from '../core/url.ts'
import { publicUrlOf } from './base-path.ts'
import { flag, reloadableKey as key, section, someText, text } from './key.ts'
import { ADMISSION_KEYS } from './oauth-admission.ts'

const secureUrl = v.pipe(
  text,
  v.check(
    isSecureUrl,
    'must be an https:// address without credentials and fragment; http:// is for this machine only, such as http://localhost',
  ),
)

const issuerUrl = v.pipe(
  secureUrl,
  v.check((address) => !address.includes('?'), 'must have no query'),
)

const redirectUrl = v.pipe(
  text,
  v.check(isRedirectUrl, 'must be an http:// or https:// address without credentials and fragment'),
)

/** For the whole list and for each item. */
const HOSTS_FORM = 'must be a list of host names, such as oauth2.example.org'

const tokenHosts = v.array(
  v.pipe(v.string(HOSTS_FORM), v.regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, HOSTS_FORM)),
  HOSTS_FORM,
)

/** Words separated by single spaces (RFC 6749, section 3.3). */
const scope = v.pipe(text, v.regex(/^[!#-[\]-~]+( [!#-[\]-~]+)*$/, 'must be words separated by spaces'))

const ProviderSection = section({
  title: key(
    v.pipe(someText, v.maxLength(60, 'must have at most 60 characters')),
    undefined,
    'Name of the provider on the button of a page. Default: its name, with a capital letter.',
  ),
  client_id: key(someText, undefined, 'Client id at the provider. Without it the provider is not offered.'),
  client_secret: key(someText, undefined, 'Client secret at the provider.', { secret: true }),
  redirect_uri: key(
    redirectUrl,
    undefined,
    'Callback URL, exactly as registered at the provider; default: server.public_url and server.base_path followed by /api/oauth/{provider}/callback.',
  ),
  issuer: key(issuerUrl, undefined, 'Issuer URL of an OpenID Connect provider; all other URLs are discovered from it.'),
  authorization_url: key(secureUrl, undefined, 'Authorization endpoint. Required for a provider without an issuer.'),
  token_url: key(secureUrl, undefined, 'Token endpoint. Required for a provider without an issuer.'),
  userinfo_url: key(secureUrl, undefined, 'User info endpoint. Required for a provider without an issuer.'),
  token_hosts: key(
    tokenHosts,
    undefined,
    "Hosts that discovery may have the client secret sent to, beside the issuer's own and those below it.",
  ),
  scope: key(scope, undefined, 'Requested scope; default: openid email profile, or the scope of the preset.'),
  ...ADMISSION_KEYS,
})

/** The configuration of one provider. */
export type ProviderConfig = v.InferOutput<typeof ProviderSection>

const OWN_KEYS = {
  manual_enabled: key(
    flag,
    undefined,
    'Serve POST /api/oauth/{provider}/manual, which takes a code by hand, for developers. Default: on, unless server.public_url begins with https://.',
  ),
  allow_signup: key(flag, true, 'Create an account at the first sign-in of a new user through a provider.'),
  link_verified_email: key(
    flag,
    false,
    'Link accounts by an email address that the provider has verified. Every provider can then open every account.',
  ),
}

/** Sign-in through providers: three keys of its own, and a section with any name for each provider. */
export const OauthSection = v.optional(
  // A type cannot exclude the keys above: to it, any name may be a boolean.
  v.objectWithRest(OWN_KEYS, ProviderSection as v.GenericSchema<unknown, ProviderConfig | boolean>),
  {} as never,
)

/** Reserved names: keys of this section, or properties of every JavaScript object. */
const RESERVED_NAMES = [...Object.keys(OWN_KEYS), '__proto__', 'constructor', 'prototype']

const PRESETS: Record<string, Partial<ProviderConfig>> = {
  github: {
    title: 'GitHub',
    authorization_url: 'https://github.com/login/oauth/authorize',
    token_url: 'https://github.com/login/oauth/access_token',
    userinfo_url: 'https://api.github.com/user',
    scope: 'read:user user:email',
  },
  google: { issuer: 'https://accounts.google.com' },
}

const DEFAULT_SCOPE = 'openid email profile'

const ADDRESSES = ['authorization_url', 'token_url', 'userinfo_url'] as const

/** A usable provider, with every field filled in. Without an issuer it has all three URLs. */
export interface ProviderSettings extends ProviderConfig {
  name: string
  title: string
  client_id: string
  client_secret: string
  redirect_uri: string
  scope: string
}

/** Whether a provider may have this name. */
export function isProviderName(name: string): boolean {
  return /^[a-z0-9_-]{1,64}$/.test(name) && !RESERVED_NAMES.includes(name)
}

/** The providers that have credentials. */
export function oauthProviders(config: Config): ProviderSettings[] {
  return sectionsOf(config).flatMap(([name, section]) => {
    const { client_id, client_secret, scope = DEFAULT_SCOPE, ...rest } = filledIn(name, section)
    if (!client_id || !client_secret) return []
    const redirect_uri = rest.redirect_uri ?? `${publicUrlOf(config)}/api/oauth/${name}/callback`
    const title = rest.title ?? name[0]!.toUpperCase() + name.slice(1)
    return [{ ...rest, name, title, client_id, client_secret, redirect_uri, scope }]
  })
}

/** Missing or contradictory keys of providers. */
export function oauthProblems(config: Config): { key: string; message: string }[] {
  return sectionsOf(config).flatMap(([name, section]) =>
    problemsOf(name, section, config.server.public_url).map(([key, message]) => ({
      key: `oauth.${name}.${key}`,
      message,
    })),
  )
}

function problemsOf(
  name: string,
  section: ProviderConfig,
  publicUrl: string | undefined,
): [key: keyof ProviderConfig, message: string][] {
  const { client_id, client_secret, ...rest } = section
  if (!client_id && !client_secret) return []
  if (!client_secret) return [['client_secret', 'must be set when client_id is']]
  if (!client_id) return [['client_id', 'must be set when client_secret is']]

  const { issuer, scope = DEFAULT_SCOPE, ...addresses } = filledIn(name, rest)
  const missing = issuer ? [] : ADDRESSES.filter((address) => !addresses[address])
  if (missing.length === ADDRESSES.length) return [['issuer', `must be set, or ${ADDRESSES.join(', ')}`]]
  return [
    ...missing.map((address): [typeof address, string] => [address, 'must be set where there is no issuer']),
    ...(issuer && !scope.split(' ').includes('openid')
      ? [['scope', 'must have openid in it where there is an issuer'] as [keyof ProviderConfig, string]]
      : []),
    ...(rest.redirect_uri || publicUrl
      ? []
      : [['redirect_uri', 'must be set when server.public_url is not'] as [keyof ProviderConfig, string]]),
  ]
}

/** Adds the preset; a section with an issuer of its own is another provider than the preset's. */
function filledIn(name: string, section: ProviderConfig): ProviderConfig {
  const preset = section.issuer || !Object.hasOwn(PRESETS, name) ? {} : PRESETS[name]
  return { ...preset, ...section }
}

function sectionsOf({ oauth }: Config): [name: string, section: ProviderConfig][] {
  return Object.entries(oauth).flatMap(([name, section]) => (typeof section === 'object' ? [[name, section]] : []))
}

/** Whether a URL may receive secrets and users: over HTTPS, or on this machine. */
export function isSecureUrl(address: string): boolean {
  if (!isRedirectUrl(address)) return false
  const { protocol, hostname } = new URL(address)
  // What is sent to this machine in the clear crosses no network.
  return protocol === 'https:' || isLoopback(hostname)
}

function isRedirectUrl(address: string): boolean {
  const url = parseUrl(address)
  return url !== undefined && /^https?:$/.test(url.protocol) && !url.username && !url.password && !/[#\s]/.test(address)
}
