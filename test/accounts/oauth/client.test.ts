import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { readFailure } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService, type TestService } from '../../support/service.ts'
import { createBrowser, PUBLIC_URL } from './browser.ts'
import { ACCESS_TOKEN, type Answer, type PlainProvider, REFRESH_TOKEN, returnFrom, startPlain } from './plain.ts'

/** All planted secrets, which no output may contain. */
const CANARY = /canary-/

describeOnEachDatabase('sign-in through any kind of provider', (openUrl) => {
  let service: TestService
  let provider: PlainProvider
  let original: PlainProvider['answers']
  const lines: string[] = []

  beforeAll(async () => {
    provider = await startPlain()
    original = { ...provider.answers }
    const line = (message: string, fields?: object) => void lines.push(JSON.stringify({ message, ...fields }))
    service = await startService(await openUrl(), {
      config: {
        server: { public_url: PUBLIC_URL },
        session: { max_sessions_per_user: false },
        oauth: {
          manual_enabled: true,
          plain: provider.plain,
          openid: provider.openid,
          github: provider.plain,
          // A privileged port, which no other test listens on.
          nowhere: { ...provider.openid, issuer: 'http://127.0.0.1:2' },
          pending: { issuer: provider.url },
        },
      },
      ports: { log: { debug: line, info: line, warn: line, error: line } },
    })
    await service.signIn('admin')
  })
  beforeEach(() => {
    provider.answers = { ...original }
    provider.asked.length = 0
    lines.length = 0
  })
  afterAll(async () => {
    await service.close()
    provider.close()
  })

  /** Signs in with the provider's current answers. */
  async function signIn(
    provider: string,
    { more = {}, nonce = true }: { more?: Record<string, string>; nonce?: boolean } = {},
  ) {
    const browser = createBrowser(service.base_url)
    const authUrl = await browser.begin(provider)
    const { searchParams } = new URL(authUrl)
    if (provider === 'openid' && nonce) setIdToken({ nonce: searchParams.get('nonce') })
    const response = await browser.ask(returnFrom(authUrl, more), { headers: { accept: 'application/json' } })
    return { response, browser, searchParams }
  }

  /** Adds these claims to the next id_token. */
  let claims: Record<string, unknown> = {}
  let header: Record<string, unknown> = {}
  beforeEach(() => {
    claims = { email: 'ada@example.org', email_verified: true }
    header = {}
  })
  function setIdToken(more: object) {
    const id_token = provider.idToken({ ...more, ...claims }, header)
    provider.answers['/token'] = { access_token: ACCESS_TOKEN, token_type: 'Bearer', id_token }
  }

  async function failureOf(response: Response): Promise<[number, string]> {
    expect(await response.clone().text()).not.toMatch(CANARY)
    expect(lines.join('\n')).not.toMatch(CANARY)
    expect(response.headers.getSetCookie()).toEqual([])
    return [response.status, (await readFailure(response)).code]
  }

  it.each(['unheard_of', 'pending', '__proto__', 'manual_enabled'])('has no provider %s', async (provider) => {
    const browser = createBrowser(service.base_url)
    for (const [path, init] of [
      ['', {}],
      ['/callback?code=x&state=x', {}],
      ['/manual', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"auth_code":"x"}' }],
    ] as const) {
      expect((await browser.ask(`/api/oauth/${provider}${path}`, init)).status).toBe(404)
    }
  })

  it('sends a plain OAuth 2 provider the secret, the code and the PKCE proof, and reads the profile', async () => {
    const { response, searchParams } = await signIn('plain')
    const body = (await response.json()) as object
    expect(body).toMatchObject({ user: { username: 'ada', display_name: 'Ada Lovelace', email: 'ada@example.org' } })
    expect(JSON.stringify(body)).not.toMatch(CANARY)
    expect(searchParams.has('nonce')).toBe(false)
    expect(provider.asked.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /token', 'GET /user'])
    expect(provider.asked[0]!.form).toEqual({
      grant_type: 'authorization_code',
      client_id: 'plain-client',
      client_secret: provider.plain.client_secret,
      redirect_uri: `${PUBLIC_URL}/api/oauth/plain/callback`,
      code: 'canary-code-0123456789',
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(provider.asked[1]!.headers.authorization).toBe(`Bearer ${ACCESS_TOKEN}`)
    const rows = await innerState(service).db.all(sql`SELECT * FROM identities`)
    expect(rows).toMatchObject([{ provider: 'plain', issuer: provider.url, subject: '1' }])
    const tables = await Promise.all(
      ['users', 'identities', 'oauth_states', 'sessions', 'audit_log'].map((table) =>
        innerState(service).db.all(statement(`SELECT * FROM ${table}`)),
      ),
    )
    expect(JSON.stringify(tables) + lines.join()).not.toMatch(CANARY)
  })

  it('reads the verified primary address from GitHub', async () => {
    provider.answers['/user'] = { id: 42, login: 'Octo', name: null, email: 'public@example.org' }
    const emails = [
      { email: 'old@example.org', primary: false, verified: true, visibility: null },
      { email: 'octo@example.org', primary: true, verified: true, visibility: 'public' },
    ]
    provider.answers['/user/emails'] = emails
    const { response } = await signIn('github')
    expect(await response.json()).toMatchObject({ user: { username: 'Octo', email: 'octo@example.org' } })

    provider.answers['/user'] = { id: 43, login: 'Other' }
    provider.answers['/user/emails'] = [{ email: 'octo2@example.org', primary: true, verified: false }]
    expect(await failureOf((await signIn('github')).response)).toEqual([502, 'oauth_provider_error'])
  })

  it('keeps equal subjects of different providers apart', async () => {
    provider.answers['/user'] = { sub: '1', email: 'one@example.org' }
    provider.answers['/user/emails'] = []
    claims = { sub: '1', email: 'two@example.org' }
    const bodies = await Promise.all(
      ['plain', 'openid'].map(
        async (provider) => (await signIn(provider)).response.json() as Promise<{ user: { email: string } }>,
      ),
    )
    expect(bodies.map(({ user }) => user.email)).toEqual(['ada@example.org', 'two@example.org'])
  })

  it('accepts a valid id_token, with the secret in the header if the provider requires that', async () => {
    claims = { sub: 'right', email: 'right@example.org' }
    const { response } = await signIn('openid')
    expect(response.status).toBe(200)
    const token = provider.asked.find(({ path }) => path === '/token')!
    expect(token.form.client_secret).toBeUndefined()
    expect(token.headers.authorization).toMatch(/^Basic /)
  })

  it.each<[string, Record<string, unknown>, Record<string, unknown>?]>([
    ['for another service', { aud: 'another-client' }],
    ['for several, and another one first', { aud: ['another-client', 'plain-client'], azp: 'another-client' }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['of another attempt', { nonce: 'another' }],
    ['of no attempt', { nonce: undefined }],
    ['that has expired', { exp: Math.floor(Date.now() / 1000) - 120 }],
    ['without an end', { exp: undefined }],
    ['without a subject', { sub: undefined }],
    ['with a subject that is no text', { sub: 5 }],
    ['that is not signed', {}, { alg: 'none' }],
    ['that claims to be signed with a secret', {}, { alg: 'HS256' }],
    ['signed with another key', {}, { kid: 'two' }],
  ])('refuses an id_token %s', async (_, wrong, wrongHeader = {}) => {
    Object.assign(claims, wrong)
    Object.assign(header, wrongHeader)
    expect(await failureOf((await signIn('openid')).response)).toEqual([502, 'oauth_provider_error'])
    expect(lines.join('\n')).toContain('A sign-in provider failed')
  })

  it('refuses an id_token whose signature is of other claims', async () => {
    const browser = createBrowser(service.base_url)
    const authUrl = await browser.begin('openid')
    const nonce = new URL(authUrl).searchParams.get('nonce')
    const [head, , signature] = provider.idToken({ nonce }).split('.')
    const [, body] = provider.idToken({ nonce, sub: 'somebody-else' }).split('.')
    const id_token = [head, body, signature].join('.')
    provider.answers['/token'] = { access_token: ACCESS_TOKEN, token_type: 'Bearer', id_token }
    expect(await failureOf(await browser.ask(returnFrom(authUrl)))).toEqual([502, 'oauth_provider_error'])
  })

  it('refuses userinfo of another user', async () => {
    claims = { email: undefined }
    provider.answers['/user'] = { sub: 'somebody-else', email: 'ada@example.org', email_verified: true }
    expect(await failureOf((await signIn('openid')).response)).toEqual([502, 'oauth_provider_error'])
  })

  it('checks the issuer of a callback, also without discovery', async () => {
    const mixed = await signIn('plain', { more: { iss: 'https://evil.example' } })
    expect(await failureOf(mixed.response)).toEqual([400, 'oauth_state_invalid'])
    expect(provider.asked).toEqual([])
    expect((await signIn('plain', { more: { iss: `${provider.url}/login` } })).response.status).toBe(200)
  })

  const status =
    (code: number, body = '', headers: Record<string, string> = {}): Answer =>
    (response) =>
      void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(body)
  const secret = JSON.stringify({ access_token: ACCESS_TOKEN, refresh_token: REFRESH_TOKEN, token_type: 'bearer' })

  it.each<[string, string, Answer]>([
    ['fails', '/token', status(500, secret)],
    ['refuses the code', '/token', status(400, '{"error":"invalid_grant","error_description":"canary-description"}')],
    ['refuses with 200, as GitHub does', '/token', { error: 'bad_verification_code' }],
    ['sends the request elsewhere', '/token', status(307, '', { location: '/elsewhere' })],
    ['answers with HTML', '/token', status(200, `<p>${ACCESS_TOKEN}`, { 'content-type': 'text/html' })],
    ['answers with no JSON', '/token', status(200, `{"access_token":"${ACCESS_TOKEN}`)],
    ['answers with an array', '/token', status(200, '[]')],
    ['answers with null', '/token', status(200, 'null')],
    ['answers with 10 MiB', '/token', status(200, JSON.stringify({ access_token: 'x'.repeat(10 * 1024 * 1024) }))],
    ['hangs up', '/token', (response) => void response.destroy()],
    ['has a token of another type', '/token', { access_token: ACCESS_TOKEN, token_type: 'mac' }],
    [
      'does not know its own token',
      '/user',
      status(401, '{}', { 'www-authenticate': `Bearer realm="${ACCESS_TOKEN}"` }),
    ],
    ['fails to return the profile', '/user', status(503, ACCESS_TOKEN)],
    ['returns an empty profile', '/user', {}],
    ['returns a subject that cannot be stored', '/user', { sub: 'a\u0000b', email: 'nul@example.org' }],
    ['says a number too large to be exact', '/user', status(200, '{"id":90071992547409931,"email":"n@example.org"}')],
    ['returns a profile without an address', '/user', { id: 7, login: 'hermit', email: 'not an address' }],
    ['redirects the request for the profile', '/user', status(302, '', { location: '/elsewhere' })],
  ])('is a failure of the provider when it %s', async (_, path, answer) => {
    provider.answers[path] = answer
    provider.answers['/elsewhere'] = original['/token']!
    const { response } = await signIn('plain')
    expect(await failureOf(response)).toEqual([502, 'oauth_provider_error'])
    expect(provider.asked.map((each) => each.path)).not.toContain('/elsewhere')
  })

  it('gives up a slow provider within five seconds', async () => {
    const drips: NodeJS.Timeout[] = []
    const drip = (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      drips.push(setInterval(() => response.write(' '), 50))
    }
    const answers = [() => {}, drip]
    const browser = createBrowser(service.base_url)
    const authUrls = [await browser.begin('plain'), await browser.begin('plain')]
    provider.answers['/token'] = (response, asked) => {
      const turn = provider.asked.filter(({ path }) => path === '/token').indexOf(asked)
      answers[turn]!(response)
    }
    const failures = await Promise.all(authUrls.map((url) => browser.ask(returnFrom(url))))
    for (const each of failures) expect(await failureOf(each)).toEqual([502, 'oauth_provider_error'])
    expect(lines.join('\n')).toContain('it took too long')
    drips.forEach(clearInterval)
  })

  it('cannot start if discovery fails, or names a host that must not get the secret', async () => {
    const begin = async (provider: string) =>
      failureOf(await createBrowser(service.base_url).ask(`/api/oauth/${provider}`))
    expect(await begin('nowhere')).toEqual([502, 'oauth_provider_error'])
    expect(lines.join('\n')).toContain('ECONNREFUSED')
    for (const wrong of [
      { issuer: 'https://evil.example' },
      { authorization_endpoint: 'javascript:alert(1)' },
      { authorization_endpoint: undefined },
      { token_endpoint: 'http://evil.example/token' },
    ]) {
      const fresh = await startPlain()
      const config = { server: { public_url: PUBLIC_URL }, oauth: { rogue: fresh.openid } }
      fresh.answers['/.well-known/openid-configuration'] = {
        ...(fresh.answers['/.well-known/openid-configuration'] as object),
        ...wrong,
      }
      const other = await startService('sqlite::memory:', { config })
      await other.signIn('admin')
      const browser = createBrowser(other.base_url)
      const begun = await browser.ask('/api/oauth/rogue')
      const last = begun.ok
        ? await browser.ask(returnFrom(((await begun.json()) as { auth_url: string }).auth_url))
        : begun
      expect((await readFailure(last)).code).toBe('oauth_provider_error')
      await other.close()
      fresh.close()
    }
  })

  it('writes the reason of a failure to the audit log and the log', async () => {
    provider.answers['/token'] = status(400, '{"error":"invalid_grant"}')
    await signIn('plain')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { message: 'A sign-in provider failed', provider: 'plain', reason: 'it answered with status 400, invalid_grant' },
      { message: 'audit', act: 'oauth.failed', ip: '127.0.0.1', provider: 'plain', code: 'oauth_provider_error' },
      expect.objectContaining({ message: 'request', route: '/api/oauth/{provider}/callback', status: 502 }),
    ])
  })

  it('reports any other refusal as a failure of the provider', async () => {
    const browser = createBrowser(service.base_url)
    const state = new URL(await browser.begin('plain')).searchParams.get('state')
    const response = await browser.ask(`/api/oauth/plain/callback?error=<script>&state=${state}`)
    expect(await failureOf(response)).toEqual([502, 'oauth_provider_error'])
    expect(provider.asked).toEqual([])
  })
})
