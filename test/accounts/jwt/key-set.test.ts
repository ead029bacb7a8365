import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type JwtOptions, jwtIdentity } from '../../../lib/index.ts'
import { codeOf } from '../../support/service.ts'

const JWT = { issuer: 'https://id.example.org', audience: 'chat' }

const pair = (alg: string) => generateKeyPair(alg, { extractable: true })

/** A request with a token. */
async function request(key: CryptoKey | Uint8Array, { alg = 'ES256', kid }: { alg?: string; kid?: string } = {}) {
  const token = await new SignJWT({ ...{ iss: JWT.issuer, aud: 'chat', sub: 'ada' } })
    .setProtectedHeader({ alg, ...(kid && { kid }) })
    .setIssuedAt()
    .setExpirationTime('10m')
    .sign(key)
  return { headers: new Headers({ authorization: `Bearer ${token}` }) }
}

describe('a public key', () => {
  it.each(['RS256', 'PS384', 'ES256', 'EdDSA'])('of %s verifies its tokens, and is no secret', async (alg) => {
    const { publicKey, privateKey } = await pair(alg)
    const public_key = await exportSPKI(publicKey)
    const identify = jwtIdentity({ ...JWT, public_key })
    expect(await identify(await request(privateKey, { alg }))).toMatchObject({ subject: 'ada' })
    const forged = await request(new TextEncoder().encode(public_key), { alg: 'HS256' })
    expect(await codeOf(identify(forged))).toBe('unauthenticated')
    const other = await request((await pair(alg)).privateKey, { alg })
    expect(await codeOf(identify(other))).toBe('unauthenticated')
  })
})

describe('keys at a URL', () => {
  let keys: object[]
  let respond: (response: ServerResponse) => void
  let asked = 0
  beforeEach(() => {
    asked = 0
    respond = (response) => response.end(JSON.stringify({ keys }))
  })

  /** Two keys, and a server that has what `keys` has. */
  async function setUp() {
    const server = createServer((_, response) => {
      asked++
      respond(response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const [first, second] = await Promise.all([pair('ES256'), pair('ES256')])
    const jwks = await Promise.all(
      [first, second].map(async ({ publicKey }, n) => ({
        ...(await exportJWK(publicKey)),
        kid: `k${n}`,
        alg: 'ES256',
      })),
    )
    keys = [jwks[0]!]
    const jwks_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
    // The time that passes between requests for the keys, without waiting for it.
    let passed = 0
    const real = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => real() + passed)
    onTestFinished(() => void vi.restoreAllMocks())
    const pass = (ms: number) => {
      passed += ms
    }
    const one = await request(first.privateKey, { kid: 'k0' })
    const two = await request(second.privateKey, { kid: 'k1' })
    return { identify: jwtIdentity({ ...JWT, jwks_url }), jwks, pass, one, two, first }
  }

  it('are read once, also for many tokens at once, and again for a key that is new', async () => {
    const { identify, jwks, pass, one, two } = await setUp()
    const found = await Promise.all(Array.from({ length: 20 }, () => identify(one)))
    expect([asked, new Set(found.map((each) => each!.subject))]).toEqual([1, new Set(['ada'])])
    // Within the pause, an unknown key costs no request.
    keys = jwks
    for (let n = 0; n < 5; n++) expect(await codeOf(identify(two))).toBe('unauthenticated')
    expect(asked).toBe(1)
    pass(30_000)
    expect(await identify(two)).toMatchObject({ subject: 'ada' })
    expect(asked).toBe(2)
  })

  it('are none until they can be read: such a token is not refused for good', async () => {
    const { identify, pass, one } = await setUp()
    const answers = [
      (response: ServerResponse) => response.writeHead(500).end(),
      (response: ServerResponse) => response.end('not JSON'),
      (response: ServerResponse) => response.end('{}'),
      (response: ServerResponse) => response.end('x'.repeat(300_000)),
      (response: ServerResponse) => response.writeHead(302, { location: '/other' }).end(),
      (response: ServerResponse) => response.destroy(),
    ]
    for (const [n, answer] of answers.entries()) {
      respond = answer
      for (let again = 0; again < 3; again++) expect(await codeOf(identify(one))).toBe('unavailable')
      expect(asked).toBe(n + 1)
      pass(30_000)
    }
    respond = (response) => response.end(JSON.stringify({ keys }))
    expect(await identify(one)).toMatchObject({ subject: 'ada' })
  })

  it('serve for a day while their host is away', async () => {
    const { identify, pass, first, one } = await setUp()
    await identify(one)
    respond = (response) => response.destroy()
    pass(23 * 3_600_000)
    expect(await identify(await request(first.privateKey, { kid: 'k0' }))).toMatchObject({ subject: 'ada' })
    pass(2 * 3_600_000)
    expect(await codeOf(identify(await request(first.privateKey, { kid: 'k0' })))).toBe('unavailable')
  })

  it('of a host that hangs are waited for in one request', async () => {
    const { identify, one } = await setUp()
    const held: ServerResponse[] = []
    respond = (response) => void held.push(response)
    const calls = Array.from({ length: 10 }, () => codeOf(identify(one)))
    await expect.poll(() => held.length).toBe(1)
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['unavailable']))
    expect(asked).toBe(1)
  })
})

describe('jwtIdentity refuses', () => {
  const secret = 'a secret of at least thirty-two bytes'
  it.each<[string, JwtOptions]>([
    ['issuer must be set', {}],
    ['issuer must be set', { audience: 'chat', secret }],
    ['audience must be set', { issuer: 'x', secret }],
    ['secret must be set, or public_key, or jwks_url', JWT],
    ['jwks_url and secret exclude each other', { ...JWT, secret, jwks_url: 'https://id.example.org/keys' }],
    ['secret must have at least 32 bytes', { ...JWT, secret: 'short' }],
    ['public_key must be a public key', { ...JWT, public_key: 'no key' }],
    ['jwks_url must be an https:// address', { ...JWT, jwks_url: 'http://id.example.org/keys' }],
    ['algorithms has RS256', { ...JWT, secret, algorithms: ['RS256'] }],
    ['algorithms has HS256', { ...JWT, jwks_url: 'https://id.example.org/keys', algorithms: ['HS256'] }],
    ['algorithms must be a list', { ...JWT, secret, algorithms: ['none'] }],
    ['has no "isuer", did you mean "issuer"?', { audience: 'chat', secret, isuer: 'x' } as JwtOptions],
  ])('%s', (message, options) => {
    expect(() => jwtIdentity(options)).toThrow(TypeError)
    expect(() => jwtIdentity(options)).toThrow(message)
  })
})
