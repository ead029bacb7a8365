import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { authenticateClient, type ClientProof } from '../../../lib/accounts/oauth-clients/authenticate.ts'
import { OAuthError } from '../../../lib/accounts/oauth-clients/failures.ts'
import { resolveClient } from '../../../lib/accounts/oauth-clients/resolve.ts'
import { saveDocument } from '../../../lib/accounts/oauth-clients/store.ts'
import { DAY, MINUTE } from '../../../lib/core/units.ts'
import { prune } from '../../../lib/ops/retention.ts'
import { hasOpenssl } from '../../outgoing/outgoing.ts'
import { describeService } from '../../support/describe-service.ts'
import { innerState, startService } from '../../support/service.ts'
import { documentOf, letRead, startClientHost } from './client-host.ts'

const ISSUER = 'https://chat.example.org/chat'
const config = { server: { public_url: ISSUER }, mcp: { oauth: { enabled: true } } }
const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** The clock of the services. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

/** The error of a client that is refused. */
async function refusalOf(call: Promise<unknown>): Promise<[string, number]> {
  const error = await call.catch((error: unknown) => error)
  expect(error).toBeInstanceOf(OAuthError)
  const { error: code, status } = error as OAuthError
  return [code, status]
}

const REFUSED = ['invalid_client', 401]

describeService(
  'a client that only names itself',
  (url) => startService(url, { config, ports: { now } }),
  (service) => {
    const clientOf = (proof: ClientProof) => authenticateClient(innerState(service), proof)
    const ID = 'https://app.test/client.json'
    const document = { client_id: ID, name: 'App', host: 'app.test', redirect_uris: ['https://app.test/'] }
    const save = (auth_methods: ('none' | 'private_key_jwt')[]) =>
      innerState(service).write((tx) =>
        saveDocument(tx, { ...document, auth_methods }, { at: now(), fresh_until: now() }),
      )

    it('is taken if it is stored and allows that, however long ago its document was read', async () => {
      await save(['none'])
      ahead += 60 * DAY
      expect(await clientOf({ client_id: ID })).toEqual({ ...document, auth_methods: ['none'] })
    })

    it('is refused otherwise', async () => {
      expect(await refusalOf(clientOf({}))).toEqual(REFUSED)
      expect(await refusalOf(clientOf({ client_id: 'https://app.test/other.json' }))).toEqual(REFUSED)
      expect(await refusalOf(clientOf({ client_id: 'x'.repeat(100_000) }))).toEqual(REFUSED)
      await save(['private_key_jwt'])
      expect(await refusalOf(clientOf({ client_id: ID }))).toEqual(REFUSED)
      await save(['none'])
      expect(await refusalOf(clientOf({ client_id: ID, client_assertion_type: TYPE }))).toEqual(REFUSED)
    })
  },
)

describe.runIf(hasOpenssl)('a client that signs (openssl)', () => {
  describeService(
    'at a service',
    (url) => startService(url, { config, ports: { now } }),
    (service) => {
      let ada: string
      beforeAll(async () => {
        ada = (await service.signIn('ada')).id
      })

      /** A client with keys, and how it proves itself. */
      async function setUp(alg = 'ES256') {
        const host = await startClientHost()
        letRead(service.chat, host)
        const client_id = `${host.origin}/client.json`
        const jwks_uri = `${host.origin}/jwks.json`
        const signed = { token_endpoint_auth_methods_supported: ['private_key_jwt'], jwks_uri }
        host.at['/client.json'] = documentOf(client_id, { ...signed, token_endpoint_auth_method: undefined })
        const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
        host.at['/jwks.json'] = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg }] }
        const ctx = innerState(service)
        await resolveClient(ctx, client_id, ada)
        ahead += 60 * MINUTE

        /** An assertion, right but for what is given. */
        async function sign({ key = privateKey as CryptoKey | Uint8Array, header = {}, ...claims }: Claims = {}) {
          const seconds = Math.floor(now() / 1_000_000)
          const all = { iss: client_id, sub: client_id, aud: ISSUER, jti: crypto.randomUUID(), iat: seconds, ...claims }
          const given = Object.entries({ exp: seconds + 60, ...all }).filter(([, value]) => value !== undefined)
          return new SignJWT(Object.fromEntries(given)).setProtectedHeader({ alg, kid: 'k1', ...header }).sign(key)
        }
        const prove = async (claims?: Claims, proof?: ClientProof) =>
          authenticateClient(ctx, { client_assertion: await sign(claims), client_assertion_type: TYPE, ...proof })
        return { host, client_id, sign, prove, ctx, seconds: () => Math.floor(now() / 1_000_000) }
      }
      type Claims = { key?: CryptoKey | Uint8Array; header?: object } & Record<string, unknown>

      it.each(['RS256', 'ES256'])('is taken by %s, with and without its id', async (alg) => {
        const { client_id, prove, seconds } = await setUp(alg)
        expect(await prove({}, { client_id })).toMatchObject({ client_id, auth_methods: ['private_key_jwt'] })
        expect(await prove({ aud: `${ISSUER}/oauth/token` })).toMatchObject({ client_id })
        expect(await prove({ aud: ['https://other.example', ISSUER], iat: undefined })).toMatchObject({ client_id })
        expect(await prove({ exp: seconds() + 300 })).toMatchObject({ client_id })
      })

      it.each<[string, (setting: Awaited<ReturnType<typeof setUp>>) => Claims | Promise<Claims>]>([
        ['of another issuer', () => ({ iss: 'https://app.test/other.json' })],
        ['of another subject', () => ({ sub: 'https://app.test/other.json' })],
        ['for another server', () => ({ aud: 'https://other.example' })],
        ['for the resource', () => ({ aud: `${ISSUER}/mcp` })],
        ['for no server', () => ({ aud: undefined })],
        ['that has expired', ({ seconds }) => ({ exp: seconds() - 31 })],
        ['that is old, and still valid', ({ seconds }) => ({ iat: seconds() - 300, exp: seconds() + 60 })],
        ['that lives too long', ({ seconds }) => ({ exp: seconds() + 301 })],
        ['that lives too long and has no iat', ({ seconds }) => ({ exp: seconds() + 400, iat: undefined })],
        ['that never expires', () => ({ exp: undefined })],
        ['from the future', ({ seconds }) => ({ iat: seconds() + 60, exp: seconds() + 120 })],
        ['that is not valid yet', ({ seconds }) => ({ nbf: seconds() + 60 })],
        ['without jti', () => ({ jti: undefined })],
        ['with an empty jti', () => ({ jti: '' })],
        ['with a jti of another type', () => ({ jti: 7 })],
        ['with a jti that is too long', () => ({ jti: 'x'.repeat(256) })],
        ['by another key', async () => ({ key: (await generateKeyPair('ES256')).privateKey })],
        [
          'by a secret that is public',
          () => ({ key: new TextEncoder().encode('x'.repeat(32)), header: { alg: 'HS256' } }),
        ],
        ['by an unknown key', () => ({ header: { kid: 'k2' } })],
      ])('is refused with an assertion %s', async (_title, claimsOf) => {
        const setting = await setUp()
        expect(await refusalOf(setting.prove(await claimsOf(setting)))).toEqual(REFUSED)
        expect(await setting.prove()).toMatchObject({ client_id: setting.client_id })
      })

      it('is refused without a signature, with another algorithm, another type and the id of another', async () => {
        const { client_id, sign, prove, ctx } = await setUp()
        const [, body] = (await sign()).split('.')
        const head = Buffer.from('{"alg":"none"}').toString('base64url')
        for (const client_assertion of [`${head}.${body}.`, '', 'x', 'a.b.c', 'x'.repeat(20_000)]) {
          const proof = { client_id, client_assertion, client_assertion_type: TYPE }
          expect(await refusalOf(authenticateClient(ctx, proof))).toEqual(REFUSED)
        }
        expect(await refusalOf(prove({}, { client_assertion_type: undefined }))).toEqual(REFUSED)
        expect(await refusalOf(prove({}, { client_assertion_type: 'urn:x' }))).toEqual(REFUSED)
        expect(await refusalOf(prove({}, { client_id: 'https://app.test/other.json' }))).toEqual(REFUSED)
        expect(await refusalOf(authenticateClient(ctx, { client_id }))).toEqual(REFUSED)
      })

      it('is refused with RS384, which keys of RSA could verify', async () => {
        const { host, prove } = await setUp('RS384')
        const { keys } = host.at['/jwks.json'] as { keys: { alg?: string }[] }
        delete keys[0]!.alg
        expect(await refusalOf(prove())).toEqual(REFUSED)
      })

      it('is taken once by each assertion, whose id is kept while it is valid', async () => {
        const { sign, prove, client_id, ctx } = await setUp()
        await prune(ctx)
        const client_assertion = await sign()
        const proof = { client_assertion, client_assertion_type: TYPE }
        const all = await Promise.allSettled(Array.from({ length: 6 }, () => authenticateClient(ctx, proof)))
        expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
        expect((await prune(ctx)).oauth_assertions).toBe(0)
        expect(await refusalOf(authenticateClient(ctx, proof))).toEqual(REFUSED)
        expect(await prove()).toMatchObject({ client_id })
        ahead += 3 * MINUTE
        expect((await prune(ctx)).oauth_assertions).toBe(2)
        expect(await refusalOf(authenticateClient(ctx, proof))).toEqual(REFUSED)
      })

      it('waits while its keys cannot be read', async () => {
        const { host, prove } = await setUp()
        // Another process has not read them.
        letRead(service.chat, host)
        host.at['/jwks.json'] = (response) => response.writeHead(503).end()
        expect(await refusalOf(prove())).toEqual(['temporarily_unavailable', 503])
      })
    },
  )
})
