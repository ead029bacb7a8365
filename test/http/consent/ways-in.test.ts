import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { insertClient } from '../../../lib/accounts/oauth-clients/store.ts'
import type { Identity, IdentityRequest } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { setUpService } from '../../support/describe-service.ts'
import { innerState, PASSWORD, startService, type TestService } from '../../support/service.ts'
import { alertIn, answerIn, createChallenge, openBrowser } from './visits.ts'

const ISSUER = 'https://chat.example.org'
const CLIENT_ID = '01980a3c-7000-7a10-8b20-0c4f1d2e3a90'
const REDIRECT = 'https://app.example/callback'

const configOf = (oauth: object = {}) => ({
  server: { public_url: ISSUER },
  mcp: { oauth: { enabled: true, ...oauth } },
  security: { password: { bcrypt_cost: 4 }, cookie: { secure: false } },
})

const QUERY = new URLSearchParams({
  ...{ response_type: 'code', client_id: CLIENT_ID, redirect_uri: REDIRECT, state: 'x', scope: 'chat:read' },
  ...{ code_challenge: createChallenge().code_challenge, code_challenge_method: 'S256' },
})
const PATH = `/oauth/authorize?${QUERY}`
const DECIDED = { started: 'yes', decision: 'allow' }

/** Adds the client. */
const addClient = (service: TestService) =>
  innerState(service).write((tx) =>
    insertClient(tx, {
      ...{ client_id: CLIENT_ID, kind: 'operator', name: 'Claude', redirect_uris: [REDIRECT] },
      created_at: Date.now() * 1000,
    }),
  )

const grants = (service: TestService) =>
  innerState(service).db.all<{ username: string }>(
    sql`SELECT u.username FROM grants g JOIN users u ON u.id = g.user_id ORDER BY g.id`,
  )

/** Who the host says the caller is: by a header, and by a cookie of its own. */
function identify({ headers }: IdentityRequest): Identity | null {
  const name = headers.get('x-user')
  return name ? { subject: name, username: name, set_cookie: ['host=seen; Path=/'] } : null
}

describe('the page behind the sign-in of a host', () => {
  const sign_in_url = 'https://host.example/login?next={url}&a=b'
  const service = setUpService(() =>
    startService('sqlite::memory:', { config: configOf({ sign_in_url }), ports: { identity: identify } }),
  )
  const bare = setUpService(() =>
    startService('sqlite::memory:', { config: configOf(), ports: { identity: identify } }),
  )
  beforeAll(async () => {
    await addClient(service)
    await addClient(bare)
  })
  const as = (name: string) => ({ headers: { 'x-user': name } })

  it('is for its user, with the cookies that it sets and without a password', async () => {
    const browser = openBrowser(service.base_url)
    const page = await browser.go(PATH, as('ada'))
    expect(page.text).toContain('<dd>ada</dd>')
    expect(page.text).not.toContain('password')
    expect(browser.cookies.get('host')).toBe('seen')
    const sent = await browser.submit(page, DECIDED, { 'x-user': 'ada' })
    expect(answerIn(sent)).toMatchObject({ code: expect.any(String), iss: ISSUER, state: 'x' })
    expect(await grants(service)).toEqual([{ username: 'ada' }])
    const foreign = await browser.submit(page, DECIDED, { 'x-user': 'grace' })
    expect(foreign.status).toBe(403)
    expect(await grants(service)).toHaveLength(1)
  })

  it('sends one who is not signed in there, to come back', async () => {
    const browser = openBrowser(service.base_url)
    for (const init of [{}, { method: 'POST', body: new URLSearchParams(QUERY) }]) {
      const sent = await browser.go(PATH, init)
      expect(sent.status).toBe(303)
      expect(sent.url.startsWith('https://host.example/login?next=https%3A%2F%2F')).toBe(true)
      const { next, a } = answerIn(sent)
      expect(a).toBe('b')
      expect(new URL(next!).origin + new URL(next!).pathname).toBe(`${ISSUER}/oauth/authorize`)
      expect(answerIn({ url: next! })).toEqual(Object.fromEntries(QUERY))
    }
  })

  it('takes no sign-in of its own, and without an address there says what to do', async () => {
    const page = await openBrowser(bare.base_url).go(PATH)
    expect([page.status, alertIn(page)]).toEqual([401, expect.stringContaining('Sign in first')])
    expect(page.text).not.toContain('<form')
    const body = new URLSearchParams({ ...Object.fromEntries(QUERY), email: 'ada@example.org', password: PASSWORD })
    expect((await openBrowser(bare.base_url).go(PATH, { method: 'POST', body })).status).toBe(404)
  })
})

describe('the page with a sign-in provider', () => {
  /** A provider that signs everyone in who comes, as Zoe. */
  async function startProvider() {
    const server = createServer(({ url = '' }, response) => {
      const body = url.startsWith('/token')
        ? { access_token: 'token', token_type: 'bearer' }
        : { sub: 'zoe', email: 'zoe@example.org', email_verified: true, preferred_username: 'zoe' }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('begins there by a link, and comes back to what the client has asked', async () => {
    const origin = await startProvider()
    const provider = {
      ...{ client_id: 'chat', client_secret: 'secret', authorization_url: `${origin}/authorize` },
      ...{ token_url: `${origin}/token`, userinfo_url: `${origin}/userinfo`, title: 'Example & Co' },
    }
    const oauth = { example: provider, allow_signup: true }
    const service = await startService('sqlite::memory:', { config: { ...configOf(), oauth } })
    onTestFinished(() => service.close())
    await service.signIn('founder')
    await addClient(service)
    const browser = openBrowser(service.base_url)
    const page = await browser.go(PATH)
    const [, href = '', title] = /<a class="button" href="([^"]+)">([^<]+)</.exec(page.text) ?? []
    expect(title).toBe('Sign in with Example &amp; Co')
    const away = await browser.go(new URL(href.replaceAll('&amp;', '&'), page.url).href)
    expect([away.status, new URL(away.url).origin]).toEqual([303, origin])
    const { state } = answerIn(away)
    const back = await browser.go(`/api/oauth/example/callback?code=abc&state=${state}`)
    expect([back.status, new URL(back.url).pathname]).toEqual([200, '/oauth/authorize'])
    expect(back.text).toContain('I started this at app.example')
    expect((await browser.submit(back, DECIDED)).url).toMatch(/^https:\/\/app\.example\/callback\?code=/)
    expect(await grants(service)).toEqual([{ username: 'zoe' }])
  })

  it('has no link where the request is too long to come back to, and no page for an unknown provider', async () => {
    const origin = await startProvider()
    const provider = {
      ...{ client_id: 'chat', client_secret: 'secret', authorization_url: `${origin}/authorize` },
      ...{ token_url: `${origin}/token`, userinfo_url: `${origin}/userinfo` },
    }
    const service = await startService('sqlite::memory:', { config: { ...configOf(), oauth: { example: provider } } })
    onTestFinished(() => service.close())
    await service.signIn('founder')
    await addClient(service)
    const browser = openBrowser(service.base_url)
    expect((await browser.go(PATH)).text).toContain('<a class="button"')
    expect((await browser.go(`${PATH}&scope2=x&resource=${'x'.repeat(2000)}`)).text).not.toContain('<a class="button"')
    expect((await browser.go(`${PATH}&provider=other`)).status).toBe(404)
  })
})

describe('the page', () => {
  it('is not there unless it is switched on', async () => {
    const service = await startService('sqlite::memory:', { config: { server: { public_url: ISSUER } } })
    onTestFinished(() => service.close())
    expect((await openBrowser(service.base_url).go(PATH)).status).toBe(404)
  })

  it('is no page for guests, who have no account', async () => {
    const service = await startService('sqlite::memory:', {
      config: { ...configOf(), guests: { enabled: true } },
    })
    onTestFinished(() => service.close())
    await service.signIn('founder')
    await addClient(service)
    const browser = openBrowser(service.base_url)
    const joined = await browser.go('/api/guests', {
      method: 'POST',
      body: JSON.stringify({ display_name: 'Guest' }),
      headers: { 'content-type': 'application/json' },
    })
    expect(joined.status).toBeLessThan(300)
    expect((await browser.go(PATH)).text).toContain('Sign in to see which one')
  })
})
