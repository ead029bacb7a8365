import { randomUUID } from 'node:crypto'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { OPERATOR } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { documentOf, letRead, startClientHost } from '../accounts/oauth-clients/client-host.ts'
import { asItComes, startProxy } from '../cli/run-checks.ts'
import { answerIn, openBrowser } from '../http/consent/visits.ts'
import { hasOpenssl } from '../outgoing/outgoing.ts'
import { freePort } from '../support/free-port.ts'
import { innerState, PASSWORD, startService } from '../support/service.ts'

const REDIRECT = 'http://127.0.0.1:4711/callback'

/** A service at a path of an address that browsers and clients know, with a user. */
async function startChat(path: string) {
  const port = await freePort()
  const public_url = `http://127.0.0.1:${port}${path}`
  const config = {
    features: { mcp: true },
    server: { public_url },
    mcp: { oauth: { enabled: true, registration: true } },
    security: { password: { bcrypt_cost: 4 }, cookie: { secure: false } },
  }
  const service = await startService('sqlite::memory:', { config })
  onTestFinished(() => service.close())
  await startProxy(service.base_url, asItComes, () => {}, port)
  const ada = await service.signIn('ada')
  await ada.conversations.create({ title: 'Engines' })
  return { service, ada, public_url }
}

type Chat = Awaited<ReturnType<typeof startChat>>

/** What a client keeps, and a user who allows all that it asks for. */
function createProvider({ ada, public_url }: Chat, own: Record<string, unknown>, kept: Record<string, unknown> = {}) {
  const provider = {
    redirectUrl: REDIRECT,
    clientMetadata: { client_name: 'SDK', redirect_uris: [REDIRECT], scope: 'chat:read' },
    clientInformation: () => kept.client ?? own.client,
    saveClientInformation: (client: unknown) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens: unknown) => void Object.assign(kept, { tokens }),
    saveCodeVerifier: (verifier: string) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier as string,
    state: () => 'a state',
    async redirectToAuthorization(url: URL) {
      const browser = openBrowser(public_url)
      const page = await browser.go(url.href)
      const asked = await browser.submit(page, { email: ada.email, password: PASSWORD })
      const sent = await browser.submit(asked, { started: 'yes', decision: 'allow' })
      kept.callback = answerIn(sent)
    },
    ...own,
  }
  return {
    provider,
    kept: kept as { callback: Record<string, string>; tokens: { access_token: string; scope: string } },
  }
}

/** The clients that are authorized, each by its SDK: they look for all that they need themselves. */
const SDKS = {
  'the SDK of the revisions that begin with initialize': {
    create: () => new Client({ name: 'test', version: '1' }),
    transport: (url: URL, authProvider: never) => new StreamableHTTPClientTransport(url, { authProvider }),
  },
  'the SDK of the revision 2026-07-28': {
    create: () => new ModernClient({ name: 'test', version: '1' }),
    transport: (url: URL, authProvider: never) => new ModernTransport(url, { authProvider }),
  },
}

/** Connects as a client does that has no token yet, and lists conversations. */
async function connect(sdk: (typeof SDKS)[keyof typeof SDKS], chat: Chat, own: Record<string, unknown>) {
  const url = new URL(`${chat.public_url}/mcp`)
  const { provider, kept } = createProvider(chat, own)
  const first = sdk.transport(url, provider as never)
  await expect(sdk.create().connect(first as never)).rejects.toThrow(/unauthori[sz]ed/i)
  expect(kept.callback).toMatchObject({ state: 'a state', iss: chat.public_url })
  await first.finishAuth(new URLSearchParams(kept.callback).get('code')!, kept.callback.iss)
  const client = sdk.create()
  await client.connect(sdk.transport(url, provider as never) as never)
  onTestFinished(() => client.close())
  const { structuredContent } = await client.callTool({ name: 'list_conversations', arguments: {} })
  expect(JSON.stringify(structuredContent)).toContain('Engines')
  return kept
}

describe.each(Object.entries(SDKS))('%s', (_, sdk) => {
  it.each(['', '/chat'])('is authorized with a client of the operator, below the path "%s"', async (path) => {
    const chat = await startChat(path)
    const created = await chat.service.chat.oauthClients.create(OPERATOR, { name: 'Editor', redirect_uris: [REDIRECT] })
    const kept = await connect(sdk, chat, { client: { client_id: created.client_id } })
    expect(kept.tokens.scope).toBe('chat:read')
    const { grants } = await chat.ada.grants.list()
    expect(grants).toMatchObject([{ client_name: 'Editor', client_id: created.client_id }])
  })

  it('is authorized when it has registered itself', async () => {
    const chat = await startChat('')
    await connect(sdk, chat, {})
    expect((await chat.ada.grants.list()).grants).toMatchObject([{ client_name: 'SDK' }])
  })

  it('refreshes what has expired by itself', async () => {
    const chat = await startChat('')
    const kept = await connect(sdk, chat, {})
    const before = kept.tokens.access_token
    await innerState(chat.service).write((tx) => tx.run(sql`UPDATE api_keys SET expires_at = 1`))
    const { provider } = createProvider(chat, {}, kept)
    const client = sdk.create()
    await client.connect(sdk.transport(new URL(`${chat.public_url}/mcp`), provider as never) as never)
    await client.close()
    expect(kept.tokens.access_token).not.toBe(before)
  })

  describe.skipIf(!hasOpenssl)('with a document of its own', () => {
    it('is authorized without any account with the service', async () => {
      const chat = await startChat('')
      const host = await startClientHost()
      const id = `${host.origin}/client.json`
      host.at['/client.json'] = documentOf(id, { client_name: 'Published', redirect_uris: [REDIRECT] })
      letRead(chat.service.chat, host)
      await connect(sdk, chat, { clientMetadataUrl: id })
      expect((await chat.ada.grants.list()).grants).toMatchObject([{ client_name: 'Published', client_id: id }])
    })

    it('is authorized by assertions that it signs', async () => {
      const chat = await startChat('')
      const host = await startClientHost()
      const id = `${host.origin}/client.json`
      const { publicKey, privateKey } = await generateKeyPair('ES256')
      host.at['/keys.json'] = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'one' }] }
      host.at['/client.json'] = documentOf(id, {
        redirect_uris: [REDIRECT],
        token_endpoint_auth_method: 'private_key_jwt',
        jwks_uri: `${host.origin}/keys.json`,
      })
      letRead(chat.service.chat, host)
      const addClientAuthentication = async (_: Headers, params: URLSearchParams) => {
        const claims = { iss: id, sub: id, aud: chat.public_url, jti: randomUUID() }
        const token = new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).setIssuedAt()
        params.set('client_id', id)
        params.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
        params.set('client_assertion', await token.setExpirationTime('2m').sign(privateKey))
      }
      await connect(sdk, chat, { clientMetadataUrl: id, addClientAuthentication })
      expect((await chat.ada.grants.list()).grants).toMatchObject([{ client_id: id }])
    })
  })
})
