import * as oauth from 'oauth4webapi'
import type { ProviderSettings } from '../../config/oauth.ts'
import { githubClaims } from './person.ts'
import { type Options, RequestFailure } from './request.ts'

/** What a server has answered to a code. */
export interface Exchange {
  server: oauth.AuthorizationServer
  client: oauth.Client
  response: Response
  options: Options
}

/** What an id_token says, once it is proven to be this server's, for us, and for this attempt; and userinfo, for an address. */
export async function openIdClaims(
  { server, client, response, options }: Exchange,
  nonce: string | undefined,
): Promise<Record<string, unknown>> {
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: nonce ?? oauth.expectNoNonce,
    requireIdToken: true,
  })
  await oauth.validateApplicationLevelSignature(server, response, options)
  const claims = oauth.getValidatedIdTokenClaims(tokens)!
  if (claims.email !== undefined || !server.userinfo_endpoint) return claims
  const answer = await oauth.userInfoRequest(server, client, tokens.access_token, options)
  // Whether an address is verified is said where the address is.
  return {
    ...claims,
    email_verified: undefined,
    ...(await oauth.processUserInfoResponse(server, client, claims.sub, answer)),
  }
}

/** What a server without OpenID Connect says of whose token it is. */
export async function plainClaims(
  { server, client, response, options }: Exchange,
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
  if (typeof user !== 'object' || user === null) throw new RequestFailure('what it says of the person is no object')
  if (name !== 'github') return user as Record<string, unknown>
  return githubClaims(user as Record<string, unknown>, await read(`${userinfo_url}/emails`))
}

/** Without an issuer to hold it against, an id_token proves nothing, and is not looked at. */
async function withoutIdToken(response: Response): Promise<Response> {
  const body = (await response.json()) as unknown
  const { id_token: _, ...rest } = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  return new Response(JSON.stringify(rest), { status: response.status, headers: response.headers })
}
