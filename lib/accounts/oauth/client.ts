import * as oauth from 'oauth4webapi'
import { isSecureUrl, type ProviderSettings } from '../../config/oauth.ts'
import { ChatError } from '../../core/errors.ts'
import { SECOND } from '../../core/units.ts'
import { parseUrl } from '../../core/url.ts'
import type { Micros } from '../../storage/sql.ts'
import { openIdClaims, plainClaims } from './claims.ts'
import { assertEndpoints } from './endpoints.ts'
import { toPerson } from './person.ts'
import type { Provider, ProviderTools, Returned } from './provider.ts'
import { type Options, publicReason, RequestFailure, requestOptions } from './request.ts'
import { decisiveClaims } from './rules-admission.ts'

/** How long a discovery document is cached. */
const DISCOVERY_SECONDS = 3600

/** A configured provider. Its discovery document is fetched once and cached for an hour. */
export function createClient(settings: ProviderSettings, { log, now, outgoing }: ProviderTools): Provider {
  const { name, redirect_uri } = settings
  const decisive = decisiveClaims(settings)
  const client: oauth.Client = { client_id: settings.client_id }
  const discovery = settings.issuer ? createDiscovery(settings, settings.issuer, { now, outgoing }) : undefined
  const findServer = discovery?.findServer ?? (async () => explicit(settings))
  const isNamed = discovery?.isNamed ?? (() => false)

  async function guarded<T>(work: (options: Options) => Promise<T>): Promise<T> {
    try {
      return await work(requestOptions({ outgoing, isNamed }))
    } catch (error) {
      if (error instanceof ChatError) throw error
      log.warn('A sign-in provider failed', { provider: name, reason: publicReason(error) })
      // Without its cause, which may contain the provider's text.
      throw new ChatError('oauth_provider_error')
    }
  }

  return {
    authorizationUrl: ({ state, verifier, nonce }) =>
      guarded(async (options) => {
        const server = await findServer(options)
        if (!isSecureUrl(server.authorization_endpoint ?? '')) throw new RequestFailure('it has no place to sign in')
        const url = new URL(server.authorization_endpoint!)
        const parameters = {
          response_type: 'code',
          client_id: client.client_id,
          redirect_uri,
          scope: settings.scope,
          state,
          code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(settings.issuer && { nonce }),
        }
        for (const [parameter, value] of Object.entries(parameters)) url.searchParams.set(parameter, value)
        return url.href
      }),

    identify: (returned, attempt) =>
      guarded(async (options) => {
        const server = await findServer(options)
        assertIssuer(server, settings, returned)
        const callback = new URLSearchParams({ code: returned.code, iss: server.issuer })
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authenticationOf(server, settings),
          oauth.validateAuthResponse(server, client, callback),
          redirect_uri,
          attempt?.verifier ?? oauth.nopkce,
          options,
        )
        const exchange = { server, client, response, options }
        const claims = settings.issuer
          ? await openIdClaims(exchange, attempt?.nonce, decisive)
          : await plainClaims(exchange, settings)
        return toPerson(settings, server.issuer, claims)
      }),
  }
}

/** A server without discovery; its identifier is its authorization URL. */
function explicit(settings: ProviderSettings): oauth.AuthorizationServer {
  return {
    issuer: new URL(settings.authorization_url!).origin,
    authorization_endpoint: settings.authorization_url!,
    token_endpoint: settings.token_url!,
    userinfo_endpoint: settings.userinfo_url!,
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  }
}

/** Discovery (OpenID Connect Discovery 1.0); configured URLs override the discovered ones. */
function createDiscovery(
  settings: ProviderSettings,
  address: string,
  { now, outgoing }: Pick<ProviderTools, 'now' | 'outgoing'>,
) {
  const issuer = new URL(address)
  let cached: { server: oauth.AuthorizationServer; named: readonly string[]; at: Micros } | undefined
  async function findServer(options: Options): Promise<oauth.AuthorizationServer> {
    // Also behind a step of the clock, by however much, it is read again.
    if (cached && Math.abs(now() - cached.at) < DISCOVERY_SECONDS * SECOND) return cached.server
    const response = await oauth.discoveryRequest(issuer, options)
    const { authorization_url, token_url, userinfo_url } = settings
    const metadata = await oauth.processDiscoveryResponse(issuer, response)
    const discovered = withoutConfigured(metadata, settings)
    assertEndpoints(issuer, discovered, settings.token_hosts)
    // What a provider of one's own network names is there, too.
    const named = (await outgoing.isInternal(issuer.hostname)) ? [] : calledOf(discovered)
    const server = {
      ...metadata,
      ...(authorization_url && { authorization_endpoint: authorization_url }),
      ...(token_url && { token_endpoint: token_url }),
      ...(userinfo_url && { userinfo_endpoint: userinfo_url }),
    }
    cached = { server, named, at: now() }
    return server
  }
  return { findServer, isNamed: (url: string) => cached?.named.includes(url) ?? false }
}

/** The URLs that the service itself calls, as they are given to the function that fetches. */
function calledOf({ token_endpoint, userinfo_endpoint, jwks_uri }: oauth.AuthorizationServer): string[] {
  return [token_endpoint, userinfo_endpoint, jwks_uri].flatMap((url) => (url && parseUrl(url)?.href) || [])
}

/** The discovered URLs that no configured URL overrides: the operator is responsible for those. */
function withoutConfigured(metadata: oauth.AuthorizationServer, settings: ProviderSettings): oauth.AuthorizationServer {
  const { authorization_endpoint, token_endpoint, userinfo_endpoint, ...rest } = metadata
  return {
    ...rest,
    ...(!settings.authorization_url && authorization_endpoint !== undefined && { authorization_endpoint }),
    ...(!settings.token_url && token_endpoint !== undefined && { token_endpoint }),
    ...(!settings.userinfo_url && userinfo_endpoint !== undefined && { userinfo_endpoint }),
  }
}

/** Another provider may have redirected the browser, to learn the code of this one (RFC 9207, RFC 9700 section 4.4). */
function assertIssuer(server: oauth.AuthorizationServer, settings: ProviderSettings, { iss, by_hand }: Returned): void {
  const isMissing = iss === undefined && !by_hand && server.authorization_response_iss_parameter_supported
  // Without discovery only the URL of the server is known.
  const isOther = iss !== undefined && (settings.issuer ? iss !== server.issuer : originOf(iss) !== server.issuer)
  if (isMissing || isOther) throw new ChatError('oauth_state_invalid')
}

function originOf(address: string): string | undefined {
  return parseUrl(address)?.origin
}

/** In the body if supported: servers differ in how they decode credentials in the header. */
function authenticationOf(server: oauth.AuthorizationServer, { client_secret }: ProviderSettings): oauth.ClientAuth {
  const isPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post')
  return isPost ? oauth.ClientSecretPost(client_secret) : oauth.ClientSecretBasic(client_secret)
}
