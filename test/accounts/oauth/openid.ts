import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PUBLIC_URL } from './browser.ts'

/** A real OpenID Connect provider on this machine, which requires PKCE and sends its issuer with the callback. */
export interface OpenIdProvider {
  issuer: string
  /** The section of the service's configuration for it. */
  config: { client_id: string; client_secret: string; issuer: string }
  /** The claims of users besides the defaults, by login. */
  people: Map<string, Record<string, unknown>>
  close(): void
}

/**
 * Starts a provider. Any login is accepted, with `<login>@example.org`, verified.
 *
 * @param options.public_url of the service that signs in with it
 */
export async function startOpenId(
  name: string,
  options: { claimsInToken?: boolean; public_url?: string } = {},
): Promise<OpenIdProvider> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const people = new Map<string, Record<string, unknown>>()
  const claimsOf = (sub: string) => ({
    email: `${sub}@example.org`,
    email_verified: true,
    preferred_username: sub,
    name: `${sub} of ${name}`,
    ...people.get(sub),
    sub,
  })
  const config = { client_id: `client-of-${name}`, client_secret: `canary-client-secret-of-${name}-0123456789` }
  const callback = await createProvider(issuer, {
    clients: [{ ...config, redirect_uris: [`${options.public_url ?? PUBLIC_URL}/api/oauth/${name}/callback`] }],
    pkce: { required: () => true },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username', 'groups'],
    },
    conformIdTokenClaims: !options.claimsInToken,
    // In seconds; without it, the provider prints a notice about its default.
    ttl: { Interaction: 3600, Session: 3600, Grant: 3600, AccessToken: 3600, IdToken: 3600, AuthorizationCode: 60 },
    cookies: { keys: ['a key of the tests'] },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => claimsOf(id) }),
  })
  server.on('request', callback)
  return {
    issuer,
    config: { ...config, issuer },
    people,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** What answers the requests to a provider with a configuration. */
export async function createProvider(issuer: string, configuration: object): Promise<RequestListener> {
  const Provider = await loadQuietly()
  return quietly(() => new Provider(issuer, configuration)).callback()
}

async function loadQuietly() {
  const { warn } = console
  console.warn = () => {}
  try {
    return (await import('oidc-provider')).default
  } finally {
    console.warn = warn
  }
}

/** It prints warnings about test settings: its keys, its storage, its pages. */
function quietly<T>(make: () => T): T {
  const { warn, info } = console
  console.warn = console.info = () => {}
  try {
    return make()
  } finally {
    Object.assign(console, { warn, info })
  }
}
