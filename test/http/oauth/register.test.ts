import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { setUpService } from '../../support/describe-service.ts'
import { PASSWORD, startService } from '../../support/service.ts'
import { answerIn, createChallenge, openBrowser } from '../consent/visits.ts'

const ISSUER = 'https://chat.example.org'
const configOf = (oauth: object) => ({
  server: { public_url: ISSUER },
  mcp: { oauth: { enabled: true, ...oauth } },
  security: { password: { bcrypt_cost: 4 }, cookie: { secure: false } },
})

describe('a client that registers itself', () => {
  const service = setUpService(() => startService('sqlite::memory:', { config: configOf({ registration: true }) }))
  beforeAll(() => service.signIn('ada'))

  const register = (body: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    fetch(`${service.base_url}/oauth/register`, { method: 'POST', body, headers })
  const METADATA = { client_name: 'Editor', redirect_uris: ['http://127.0.0.1/callback'], scope: 'x' }

  it('connects by what the service says of itself, and calls as its user', async () => {
    const read = async (path: string) => (await fetch(service.base_url + path)).json()
    const server = (await read('/.well-known/oauth-authorization-server')) as Record<string, string>
    expect(server.registration_endpoint).toBe(`${ISSUER}/oauth/register`)
    const at = (address: string) => address.replace(ISSUER, service.base_url)
    const registered = await fetch(at(server.registration_endpoint!), {
      method: 'POST',
      body: JSON.stringify(METADATA),
      headers: { 'content-type': 'application/json' },
    })
    expect(registered.status).toBe(201)
    expect(registered.headers.get('cache-control')).toBe('no-store')
    expect(registered.headers.get('access-control-allow-origin')).toBe('*')
    const { client_id } = (await registered.json()) as { client_id: string }

    const { verifier, code_challenge } = createChallenge()
    const redirect_uri = 'http://127.0.0.1:4711/callback'
    const request = { response_type: 'code', client_id, redirect_uri, resource: `${ISSUER}/mcp`, state: 'x' }
    const query = new URLSearchParams({ ...request, code_challenge, code_challenge_method: 'S256' })
    const browser = openBrowser(service.base_url)
    const page = await browser.go(at(`${server.authorization_endpoint}?${query}`))
    const asked = await browser.submit(page, { email: 'ada@example.org', password: PASSWORD })
    const sent = await browser.submit(asked, { started: 'yes', decision: 'allow' })
    const { code, iss } = answerIn(sent)
    expect(iss).toBe(server.issuer)

    const exchange = (fields: Record<string, string>) =>
      fetch(at(server.token_endpoint!), { method: 'POST', body: new URLSearchParams(fields) })
    const fields = { grant_type: 'authorization_code', code: code!, client_id, redirect_uri, code_verifier: verifier }
    const other = await exchange({ ...fields, client_id: client_id.replace(/.$/, 'x') })
    expect([other.status, await other.json()]).toEqual([401, expect.objectContaining({ error: 'invalid_client' })])
    const answer = await exchange(fields)
    expect(answer.status).toBe(200)
    const tokens = (await answer.json()) as Record<string, string>
    expect(tokens.scope).toBe('chat:read')
    const called = await fetch(`${service.base_url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokens.access_token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    })
    expect([called.status, await called.json()]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }])
  })

  it.each<[string, string, number, string]>([
    ['no JSON', '{', 400, 'invalid_request'],
    ['no redirect that is allowed', '{"redirect_uris":["cursor://callback"]}', 400, 'invalid_redirect_uri'],
    ['no metadata', '{"redirect_uris":"http://localhost/"}', 400, 'invalid_client_metadata'],
    ['too much', JSON.stringify({ ...METADATA, more: 'x'.repeat(17_000) }), 413, 'invalid_request'],
  ])('is refused for %s', async (_title, body, status, error) => {
    const refused = await register(body)
    expect([refused.status, await refused.json()]).toEqual([status, { error, error_description: expect.any(String) }])
  })

  it('sends JSON by POST, and a page of any origin may', async () => {
    expect((await register('a=b', { 'content-type': 'text/plain' })).status).toBe(415)
    const other = await fetch(`${service.base_url}/oauth/register`)
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'OPTIONS, POST'])
    const preflight = await fetch(`${service.base_url}/oauth/register`, { method: 'OPTIONS' })
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'POST'])
  })

  it('has nothing to call where it is off', async () => {
    const off = await startService('sqlite::memory:', { config: configOf({}) })
    onTestFinished(() => off.close())
    const init = { method: 'POST', body: JSON.stringify(METADATA), headers: { 'content-type': 'application/json' } }
    expect((await fetch(`${off.base_url}/oauth/register`, init)).status).toBe(404)
    const server = await (await fetch(`${off.base_url}/.well-known/oauth-authorization-server`)).json()
    expect(server).not.toHaveProperty('registration_endpoint')
  })
})
