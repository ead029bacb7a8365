import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { PUBLIC_URL } from './browser.ts'

/** A request to a provider of the tests, with its form. */
export interface Asked {
  path: string
  method: string
  form: Record<string, string>
  headers: IncomingMessage['headers']
}

/** The answer at a path: JSON, or a function that writes the response. */
export type Answer = object | ((response: ServerResponse, asked: Asked) => void)

/** A provider whose answers the test controls: plain OAuth 2, or OpenID Connect that may be wrong. */
export interface PlainProvider {
  url: string
  answers: Record<string, Answer>
  asked: Asked[]
  /** Sections of the configuration: with three URLs, and with an issuer. */
  plain: Record<string, string>
  openid: Record<string, string>
  /** An id_token with its claims and header, signed with the published key. */
  idToken(claims: object, header?: object): string
  close(): void
}

/** The tokens of such a provider, which no output may contain. */
export const ACCESS_TOKEN = 'canary-access-token-0123456789'
export const REFRESH_TOKEN = 'canary-refresh-token-0123456789'

/** Starts a provider in which `ada@example.org` has signed in, for any code. */
export async function startPlain(): Promise<PlainProvider> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const { pathname: path } = new URL(request.url!, 'http://plain')
    const form = Object.fromEntries(new URLSearchParams(await text(request)))
    asked.push({ path, method: request.method!, form, headers: request.headers })
    const answer = provider.answers[path]
    if (typeof answer === 'function') return answer(response, asked.at(-1)!)
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? { error: 'not_found' }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const credentials = { client_id: 'plain-client', client_secret: 'canary-plain-secret-0123456789' }

  const provider: PlainProvider = {
    url,
    asked,
    answers: {
      '/.well-known/openid-configuration': {
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        userinfo_endpoint: `${url}/user`,
        jwks_uri: `${url}/jwks`,
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      },
      '/jwks': { keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'one' }] },
      '/token': { access_token: ACCESS_TOKEN, refresh_token: REFRESH_TOKEN, token_type: 'bearer' },
      '/user': { id: 1, login: 'ada', name: 'Ada Lovelace', email: 'ada@example.org' },
    },
    plain: {
      ...credentials,
      authorization_url: `${url}/authorize`,
      token_url: `${url}/token`,
      userinfo_url: `${url}/user`,
    },
    openid: { ...credentials, issuer: url },
    idToken(claims, header = {}) {
      const now = Math.floor(Date.now() / 1000)
      const whole = { iss: url, aud: 'plain-client', sub: 'ada', iat: now, exp: now + 60, ...claims }
      const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const head = { alg: 'RS256', kid: 'one', ...header }
      const signed = `${encode(head)}.${encode(whole)}`
      const signature =
        head.alg === 'none' ? '' : sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')
      return `${signed}.${signature}`
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return provider
}

/** The callback of a provider that agrees, without user interaction. */
export function returnFrom(authUrl: string, more: Record<string, string> = {}): string {
  const { searchParams } = new URL(authUrl)
  const path = searchParams.get('redirect_uri')!.slice(PUBLIC_URL.length)
  return `${path}?${new URLSearchParams({ code: 'canary-code-0123456789', state: searchParams.get('state')!, ...more })}`
}
