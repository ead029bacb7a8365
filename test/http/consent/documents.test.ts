import type { ServerResponse } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { HOUR } from '../../../lib/core/units.ts'
import { documentOf, letRead, startClientHost } from '../../accounts/oauth-clients/client-host.ts'
import { hasOpenssl, openOutgoing } from '../../outgoing/outgoing.ts'
import { setUpService } from '../../support/describe-service.ts'
import { PASSWORD, startService } from '../../support/service.ts'
import { alertIn, answerIn, createChallenge, openBrowser } from './visits.ts'

/** The clock of the service. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

const config = {
  server: { public_url: 'https://chat.example.org' },
  mcp: { oauth: { enabled: true } },
  security: { password: { bcrypt_cost: 4 }, cookie: { secure: false } },
}

describe.runIf(hasOpenssl)('a client by its document, on the page (openssl)', () => {
  const service = setUpService(() => startService('sqlite::memory:', { config, ports: { now } }))
  beforeAll(async () => {
    await service.signIn('ada')
  })

  /** A host of a client, and a browser in which Ada is signed in. */
  async function setUp() {
    // Each test has new documents of its own hour.
    ahead += 2 * HOUR
    const host = await startClientHost()
    letRead(service.chat, host)
    const client_id = `${host.origin}/client.json`
    host.at['/client.json'] = documentOf(client_id)
    const query = (changes: object = {}) =>
      new URLSearchParams({
        ...{ response_type: 'code', client_id, redirect_uri: 'https://app.test/callback', scope: 'chat:read' },
        ...{ code_challenge: createChallenge().code_challenge, code_challenge_method: 'S256', ...changes },
      })
    const browser = openBrowser(service.base_url)
    const ask = (changes?: object) => browser.go(`/oauth/authorize?${query(changes)}`)
    const signIn = async () => browser.submit(await ask(), { email: 'ada@example.org', password: PASSWORD })
    return { host, browser, ask, signIn, client_id }
  }

  it('is read once someone has signed in, and not before', async () => {
    const { host, browser, ask, signIn } = await setUp()
    expect((await ask()).text).toContain('Sign in to see which one')
    const foreign = { email: 'ada@example.org', password: 'wrong horse battery' }
    await browser.submit(await ask(), foreign)
    expect(host.requests).toEqual([])
    const page = await signIn()
    expect(page.text).toContain(`<dd>Claude (${new URL(host.origin).host})</dd>`)
    expect(page.text).toContain('<dt>It goes back to</dt><dd>app.test</dd>')
    const sent = await browser.submit(page, { started: 'yes', decision: 'allow' })
    expect(answerIn(sent)).toMatchObject({ code: expect.any(String) })
    expect(host.requests).toEqual(['/client.json'])
  })

  it('shows the name of a client as text, on one line', async () => {
    const { host, client_id, signIn } = await setUp()
    host.at['/client.json'] = documentOf(client_id, { client_name: '<img src=x>\n\u202eedualC"' })
    expect((await signIn()).text).toContain('<dd>&lt;img src=x&gt;edualC&quot; (app.test')
  })

  const refuse = (respond: (response: ServerResponse) => void) => respond
  it.each([
    ['redirects', refuse((r) => r.writeHead(302, { location: 'http://127.0.0.1/' }).end())],
    ['is huge', refuse((r) => r.end(`{"a":"${'a'.repeat(20_000)}"}`))],
    ['is of another client', refuse((r) => r.end(JSON.stringify(documentOf('https://app.test/other.json'))))],
    ['is missing', refuse((r) => r.writeHead(404).end())],
  ])('is refused on the page, without a redirect, for a document that %s', async (_title, respond) => {
    const { host, signIn } = await setUp()
    host.at['/client.json'] = respond
    const page = await signIn()
    expect([page.status, alertIn(page)]).toEqual([400, expect.stringContaining('document of this application')])
    expect(page.headers.get('location')).toBeNull()
    expect(host.requests).toEqual(['/client.json'])
  })

  it('is refused for a document and for keys inside, where nothing is called', async () => {
    const { host, client_id, ask, signIn } = await setUp()
    await signIn()
    const keys = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://192.168.0.1/keys' }
    host.at['/signed.json'] = documentOf(`${host.origin}/signed.json`, keys)
    const signed = await ask({ client_id: `${host.origin}/signed.json` })
    expect([signed.status, alertIn(signed)]).toEqual([400, expect.stringContaining('jwks_uri cannot be read')])
    const port = Number(new URL(client_id).port)
    const outgoing = openOutgoing(
      { allow_http: false, allowed_networks: [], allowed_ports: [port] },
      { resolve: async () => ['127.0.0.1'] },
    )
    letRead(service.chat, { outgoing })
    const inside = await ask({ client_id: `${host.origin}/inside.json` })
    expect([inside.status, alertIn(inside)]).toEqual([400, expect.stringContaining('none that this service calls')])
    expect(host.requests).toEqual(['/client.json', '/signed.json'])
  })

  it('is refused for a document that takes longer than five seconds', { timeout: 20_000 }, async () => {
    const { host, signIn } = await setUp()
    host.at['/client.json'] = () => {}
    const page = await signIn()
    expect([page.status, alertIn(page)]).toEqual([400, expect.stringContaining('longer than 5 seconds')])
  })

  it('is refused for the eleventh document in an hour, with when to come back', async () => {
    const { host, ask, signIn } = await setUp()
    await signIn()
    for (let n = 0; n < 9; n++) await ask({ client_id: `${host.origin}/${n}` })
    const page = await ask({ client_id: `${host.origin}/9` })
    expect(page.status).toBe(429)
    expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(host.requests).toHaveLength(10)
  })
})
