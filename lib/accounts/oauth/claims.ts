import * as oauth from 'oauth4webapi'
import type { ProviderSettings } from '../../config/oauth.ts'
import { githubClaims } from './person.ts'
import { type Options, RequestFailure } from './request.ts'
import { findClaim } from './rules-admission.ts'

/** The response of the token endpoint. */
export interface TokenExchange {
  server: oauth.AuthorizationServer
  client: oauth.Client
  response: Response
  options: Options
}

/**
 * The claims of an id_token, once it is verified to be from this server, for us, and for this attempt; and userinfo,
 * for an address and for `decisive` claims, of which some providers have no other source.
 */
export async function openIdClaims(
  { server, client, response, options }: TokenExchange,
  nonce: string | undefined,
  decisive: string[],
): Promise<Record<string, unknown>> {
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: nonce ?? oauth.expectNoNonce,
    requireIdToken: true,
  })
  await oauth.validateApplicationLevelSignature(server, response, options)
  const claims = oauth.getValidatedIdTokenClaims(tokens)!
  const hasAddress = claims.email !== undefined
  const isComplete = hasAddress && decisive.every((name) => findClaim(claims, name) !== undefined)
  if (isComplete || !server.userinfo_endpoint) return claims
  const answer = await oauth.userInfoRequest(server, client, tokens.access_token, options)
  const told = await oauth.processUserInfoResponse(server, client, claims.sub, answer)
  // Whether an address is verified is in the source of the address.
  return hasAddress
    ? { ...told, email_verified: undefined, ...claims }
    : { ...claims, email_verified: undefined, ...told }
}

/** The user of a token, from a server without OpenID Connect. */
export async function plainClaims(
  { server, client, response, options }: TokenExchange,
  { name, userinfo_url }: ProviderSettings,
): Promise<Record<string, unknown>> {
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, await withoutIdToken(response))
  const read = async (address: string) => {
    const headers = new Headers({ accept: 'application/json' })
    const url = new URL(address)
    const answer = await oauth.protectedResourceRequest(tokens.access_token, 'GET', url, headers, null, options)
    if (!answer.ok) throw new RequestFailure(`it answered with status ${answer.status}`)
    return (await answer.json()) as unknown
  }
  const user = await read(userinfo_url!)
  if (typeof user !== 'object' || user === null) throw new RequestFailure('the profile is not an object')
  if (name !== 'github') return user as Record<string, unknown>
  return githubClaims(user as Record<string, unknown>, await read(`${userinfo_url}/emails`))
}

/** Without an issuer to compare with, an id_token proves nothing and is ignored. */
async function withoutIdToken(response: Response): Promise<Response> {
  const body = (await response.json()) as unknown
  const { id_token: _, ...rest } = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  return new Response(JSON.stringify(rest), { status: response.status, headers: response.headers })
}
