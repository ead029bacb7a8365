import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose'
import { expect, it, onTestFinished, vi } from 'vitest'
import { MINUTE } from '../../../lib/core/units.ts'
import { startService } from '../../support/service.ts'
import { openStream } from '../../support/stream.ts'
import { createProvider } from '../oauth/openid.ts'

/** Programs that the provider gives tokens to, each for itself. */
const NAMES = ['ada', 'grace', 'zoe']
const SECRET = 'a secret of the tests'
const RESOURCE = 'https://chat.example.org'

/** Which tokens the provider gives out for the service: signed ones of ten minutes. */
const FOR_CHAT = {
  scope: 'chat',
  audience: 'chat',
  accessTokenFormat: 'jwt',
  accessTokenTTL: 600,
  jwt: { sign: { alg: 'ES256' } },
}

/** A key with which a provider signs. */
async function makeKey(kid: string) {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  return { ...(await exportJWK(privateKey)), kid, alg: 'ES256', use: 'sig' }
}

/** A real OpenID Connect provider whose keys are replaced as it runs: it signs with the first, and publishes all. */
async function startProvider() {
  let answer: RequestListener = (_, response) => response.writeHead(503).end()
  let asked = 0
  const server = createServer((request, response) => {
    if (request.url === '/jwks') asked++
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    issuer,
    asked: () => asked,
    async sign_with(keys: object[]) {
      answer = await createProvider(issuer, {
        clients: NAMES.map((client_id) => ({
          client_id,
          client_secret: SECRET,
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
          id_token_signed_response_alg: 'ES256',
        })),
        features: {
          clientCredentials: { enabled: true },
          devInteractions: { enabled: false },
          resourceIndicators: { enabled: true, getResourceServerInfo: () => FOR_CHAT },
        },
        jwks: { keys },
        cookies: { keys: ['a key of the tests'] },
        ttl: { ClientCredentials: 600 },
      })
    },
    async tokenOf(name: string): Promise<string> {
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${name}:${encodeURIComponent(SECRET)}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: RESOURCE }),
      })
      expect(response.status).toBe(200)
      return ((await response.json()) as { access_token: string }).access_token
    },
  }
}

it('tokens of a provider are taken while its keys rotate: old ones until they end, new ones at once', async () => {
  const provider = await startProvider()
  const [k1, k2, k3] = [await makeKey('k1'), await makeKey('k2'), await makeKey('k3')]
  await provider.sign_with([k1])
  // The clock of the service, and the time that passes between requests for the keys.
  let ahead = 0
  const real = performance.now.bind(performance)
  let passed = 0
  vi.spyOn(performance, 'now').mockImplementation(() => real() + passed)
  onTestFinished(() => void vi.restoreAllMocks())
  const jwt = { issuer: provider.issuer, audience: 'chat', jwks_url: `${provider.issuer}/jwks` }
  const service = await startService('sqlite::memory:', {
    config: { auth: { jwt } },
    ports: { now: () => Date.now() * 1000 + ahead },
  })
  onTestFinished(() => service.close())
  const call = async (token: string, path = '/api/auth/me', body?: object) => {
    const response = await fetch(service.base_url + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: of any route.
    return { status: response.status, body: (await response.json()) as any }
  }
  const statusesOf = (tokens: string[]) =>
    Promise.all(tokens.map(async (token) => [decodeProtectedHeader(token).kid, (await call(token)).status]))
  const tokens = () => Promise.all(NAMES.map(provider.tokenOf))

  const first = await tokens()
  // Not shown to the service before the key is an old one.
  const unseen = await provider.tokenOf('ada')
  expect(await statusesOf(first)).toEqual(NAMES.map(() => ['k1', 200]))
  expect(provider.asked()).toBe(1)
  const me = (await call(first[0]!)).body.user
  const stream = await openStream(service.base_url, undefined, { authorization: `Bearer ${first[0]}` })
  await stream.until('stream.ready')

  await provider.sign_with([k2, k1])
  passed += 30_000
  const second = await tokens()
  expect(await statusesOf(second)).toEqual(NAMES.map(() => ['k2', 200]))
  expect(provider.asked()).toBe(2)
  expect(await statusesOf([...first, unseen])).toEqual([...NAMES, 'unseen'].map(() => ['k1', 200]))
  expect((await call(second[0]!)).body.user.id).toBe(me.id)

  // Again, at once with the calls of many: the keys are read once for all of them.
  await provider.sign_with([k3, k2])
  passed += 30_000
  const third = await tokens()
  expect(await statusesOf([...third, ...second, ...first])).toEqual([
    ...NAMES.map(() => ['k3', 200]),
    ...NAMES.map(() => ['k2', 200]),
    ...NAMES.map(() => ['k1', 200]),
  ])
  expect(provider.asked()).toBe(3)

  // What is signed anew with a key that was withdrawn is refused, and asks for no keys within the pause.
  await provider.sign_with([k1])
  const forged = await provider.tokenOf('zoe')
  expect(await statusesOf([forged])).toEqual([['k1', 401]])
  expect(provider.asked()).toBe(3)

  // The stream has gone on through all of this.
  const { conversation_id } = (await call(third[0]!, '/api/conversations', { title: 'Orders' })).body
  await stream.until('membership.changed')
  await call(third[0]!, `/api/threads/${conversation_id}/root`, { content: 'paid' })
  await stream.until('message.new')
  await stream.close()
  ahead = 11 * MINUTE
  for (const token of [...second, ...third])
    expect(await call(token)).toMatchObject({ status: 401, body: { code: 'session_expired' } })
  // Their key is gone as well.
  for (const token of first) expect((await call(token)).status).toBe(401)
})
