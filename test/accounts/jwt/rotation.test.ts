import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, it, onTestFinished } from 'vitest'
import { startService } from '../../support/service.ts'
import { openStream } from '../../support/stream.ts'

const JWT = { issuer: 'https://id.example.org', audience: 'chat' }

it('a service asks once for the keys of a provider, refuses unknown ones, and serves on while the provider is away', async () => {
  const made = await Promise.all(['k0', 'k1'].map(async (kid) => ({ kid, ...(await generateKeyPair('ES256')) })))
  const jwks = await Promise.all(
    made.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), kid, alg: 'ES256' })),
  )
  let keys = jwks.slice(0, 1)
  let asked = 0
  const provider = createServer((_, response) => {
    asked++
    response.end(JSON.stringify({ keys }))
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  onTestFinished(() => void provider.close())
  const jwks_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/keys`
  const service = await startService('sqlite::memory:', { config: { auth: { jwt: { ...JWT, jwks_url } } } })
  onTestFinished(() => service.close())
  const sign = (n: number, sub: string) =>
    new SignJWT({ iss: JWT.issuer, aud: JWT.audience, sub })
      .setProtectedHeader({ alg: 'ES256', kid: made[n]!.kid })
      .setIssuedAt()
      .setExpirationTime('10m')
      .sign(made[n]!.privateKey)
  const statusOf = async (token: string) =>
    (await fetch(`${service.base_url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })).status

  const tokens = await Promise.all(['ada', 'grace', 'zoe'].map((sub) => sign(0, sub)))
  expect(await Promise.all(tokens.map(statusOf))).toEqual([200, 200, 200])
  const stream = await openStream(service.base_url, undefined, { authorization: `Bearer ${tokens[0]}` })
  await stream.until('stream.ready')
  keys = jwks
  const next = await Promise.all(['ada', 'grace', 'zoe'].map((sub) => sign(1, sub)))
  expect(await Promise.all(next.map(statusOf))).toEqual([401, 401, 401])
  expect(asked).toBe(1)
  provider.close()
  provider.closeAllConnections()
  expect(await statusOf(await sign(0, 'new'))).toBe(200)
  expect(await statusOf(tokens[1]!)).toBe(200)
  await stream.close()

  const late = await startService('sqlite::memory:', { config: { auth: { jwt: { ...JWT, jwks_url } } } })
  onTestFinished(() => late.close())
  const headers = { authorization: `Bearer ${tokens[0]}` }
  expect((await fetch(`${late.base_url}/api/auth/me`, { headers })).status).toBe(503)
})
