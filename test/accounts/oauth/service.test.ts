import { afterAll, beforeAll, expect, it } from 'vitest'
import { SECOND } from '../../../lib/core/units.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { readFailure } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { NO_LEVELS } from '../../support/levels.ts'
import { codeOf, innerState, PASSWORD, startService, type TestService, times } from '../../support/service.ts'
import { type Browser, createBrowser, PUBLIC_URL } from './browser.ts'
import { type OpenIdProvider, startOpenId } from './openid.ts'

interface Me {
  user: { id: string; email: string; username: string; display_name?: string; roles: string[] }
}

describeOnEachDatabase('sign-in through two real providers', (openUrl) => {
  let service: TestService
  let other: TestService
  let a: OpenIdProvider
  let b: OpenIdProvider
  let ahead = 0
  const lines: string[] = []

  beforeAll(async () => {
    a = await startOpenId('provider_a')
    b = await startOpenId('provider_b', { claimsInToken: true })
    const line = (message: string, fields?: object) => void lines.push(JSON.stringify({ message, ...fields }))
    const url = await openUrl()
    const options = {
      config: {
        server: { public_url: PUBLIC_URL },
        session: { max_sessions_per_user: false },
        security: { password: { bcrypt_cost: 4 } },
        oauth: { manual_enabled: true, provider_a: a.config, provider_b: b.config },
      },
      ports: { now: () => Date.now() * 1000 + ahead, log: { debug: line, info: line, warn: line, error: line } },
    }
    service = await startService(url, options)
    other = await startService(url, options)
  })
  afterAll(async () => {
    await Promise.all([service.close(), other.close()])
    a.close()
    b.close()
  })

  const browser = () => createBrowser(service.base_url)
  const me = async (by: Browser) => ((await (await by.ask('/api/auth/me')).json()) as Me).user
  const refusal = async (response: Response) => [response.status, (await readFailure(response)).code]
  const acts = () => innerState(service).db.all(sql`SELECT act, actor_id, ip, detail FROM audit_log ORDER BY id`)

  it('creates no user before the service is set up', async () => {
    expect(await refusal(await browser().ask('/api/oauth/provider_a'))).toEqual([409, 'setup_required'])
    const client = service.client()
    const params = { provider: 'provider_a' }
    expect(await codeOf(client.oauth.exchangeCode(params.provider, { auth_code: 'x' }))).toBe('setup_required')
    await service.signIn('admin')
  })

  it('redirects users to the provider with state, nonce and PKCE', async () => {
    const response = await browser().ask('/api/oauth/provider_a', { headers: { host: 'evil.example' } })
    const { auth_url } = (await response.json()) as { auth_url: string }
    const { origin, searchParams } = new URL(auth_url)
    expect(origin).toBe(a.issuer)
    expect(Object.fromEntries(searchParams)).toEqual({
      response_type: 'code',
      client_id: 'client-of-provider_a',
      redirect_uri: `${PUBLIC_URL}/api/oauth/provider_a/callback`,
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^OAUTH_BINDING=[\w-]{43}\.[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/),
    ])
    const kept = JSON.stringify(
      await innerState(service).db.all(sql`SELECT state_hash, binding_hash FROM oauth_states`),
    )
    expect(kept).not.toContain(searchParams.get('state'))
  })

  it.each(['provider_a', 'provider_b'])('signs a new person up through %s, and in again', async (provider) => {
    const login = `grace-of-${provider.slice(-1)}`
    const first = browser()
    const response = await first.signIn(provider, login, {
      query: { redirect_to: '/rooms?x=1#é' },
      accept: 'text/html,*/*',
    })
    expect([response.status, response.headers.get('location')]).toEqual([303, '/rooms?x=1#%C3%A9'])
    expect(response.headers.getSetCookie().map((line) => line.split('=')[0])).toEqual(['SESSION_ID', 'CSRF-TOKEN'])
    const user = await me(first)
    expect(user).toMatchObject({
      username: login,
      email: `${login}@example.org`,
      display_name: `${login} of ${provider}`,
      roles: ['member'],
    })

    const second = browser()
    const again = await second.signIn(provider, login)
    expect(again.headers.get('x-session-rotated')).toBe('1')
    expect(await again.json()).toMatchObject({ user: { id: user.id }, csrf_token: expect.any(String) })
    expect((await acts()).slice(-2)).toEqual([
      { act: 'oauth.signed_up', actor_id: user.id, ip: '127.0.0.1', detail: JSON.stringify({ provider }) },
      { act: 'oauth.signed_in', actor_id: user.id, ip: '127.0.0.1', detail: JSON.stringify({ provider }) },
    ])
  })

  it('identifies users by their subject, not by their address', async () => {
    const person = browser()
    await person.signIn('provider_a', 'mover')
    const { id } = await me(person)
    a.people.set('mover', { email: 'moved@example.org' })
    await browser().signIn('provider_a', 'mover')
    expect(await me(person)).toMatchObject({ id, email: 'mover@example.org' })

    b.people.set('mover', { email: 'other@example.org' })
    const namesake = browser()
    await namesake.signIn('provider_b', 'mover')
    expect(await me(namesake)).toMatchObject({ email: 'other@example.org', username: 'mover-2' })
  })

  it('gives no access to an account because of an address', async () => {
    b.people.set('thief', { email: 'Admin@example.org' })
    const thief = browser()
    expect(await refusal(await thief.signIn('provider_b', 'thief'))).toEqual([409, 'email_taken'])
    expect(thief.cookie()).not.toContain('SESSION_ID')
    expect((await acts()).at(-1)).toMatchObject({ act: 'oauth.failed', actor_id: null })
  })

  it('continues after a user refuses at the provider: the old attempt is invalid, a new one works', async () => {
    const person = browser()
    const back = await person.visit(await person.begin('provider_a'), 'hesitant', { deny: true })
    expect(back).toContain('error=access_denied')
    const denied = await person.ask(`${back}&error_description=%3Cscript%3E`)
    expect(denied.status).toBe(400)
    expect(await denied.clone().text()).not.toContain('script')
    expect(await refusal(denied)).toEqual([400, 'oauth_denied'])
    expect(await refusal(await person.ask(back))).toEqual([400, 'oauth_state_invalid'])
    expect((await person.signIn('provider_a', 'hesitant')).status).toBe(200)
  })

  it('refuses a state that was used, or belongs to another browser or provider, without using it up', async () => {
    const person = browser()
    const back = await person.visit(await person.begin('provider_a'), 'careful')
    const stranger = browser()
    await stranger.begin('provider_a')
    for (const refused of [
      await stranger.ask(back),
      await browser().ask(back),
      await person.ask(back.replace('provider_a', 'provider_b')),
      await person.ask(back.replace(/state=[^&]+/, 'state=x')),
      await person.ask(back.replace(/state=[^&]+/, '')),
    ])
      expect(await refusal(refused)).toEqual([400, 'oauth_state_invalid'])

    const [head, prefetch] = [
      await person.ask(back, { method: 'HEAD' }),
      await person.ask(back, { headers: { 'sec-purpose': 'prefetch;prerender' } }),
    ]
    expect([head.status, head.headers.getSetCookie(), prefetch.status]).toEqual([200, [], 503])
    expect((await person.ask(back, { headers: { accept: 'application/json' } })).status).toBe(200)
    expect(await refusal(await person.ask(back))).toEqual([400, 'oauth_state_invalid'])
  })

  it('refuses a callback that names another issuer, or none', async () => {
    for (const iss of [encodeURIComponent(b.issuer), '', encodeURIComponent(`${a.issuer}/`)]) {
      const person = browser()
      const back = await person.visit(await person.begin('provider_a'), 'mixed')
      const mixed = back.replace(/iss=[^&]+/, iss && `iss=${iss}`)
      expect(mixed).not.toBe(back)
      expect(await refusal(await person.ask(mixed))).toEqual([400, 'oauth_state_invalid'])
    }
  })

  it('accepts a code once', async () => {
    const person = browser()
    const first = await person.visit(await person.begin('provider_a'), 'once')
    expect((await person.ask(first)).status).toBe(303)
    const code = new URLSearchParams(first.split('?')[1]).get('code')!
    const second = await person.visit(await person.begin('provider_a'), 'once')
    const replayed = await person.ask(second.replace(/code=[^&]+/, `code=${code}`))
    expect(await refusal(replayed)).toEqual([502, 'oauth_provider_error'])
  })

  it('lets one of several callbacks with the same state succeed, on several nodes', async () => {
    const person = browser()
    const back = await person.visit(await person.begin('provider_b'), 'hasty')
    const cookie = person.cookie()
    const ask = (i: number) => createBrowser([service, other][i % 2]!.base_url).ask(back, { headers: { cookie } })
    const answers = await Promise.all(times(6, ask))
    expect(answers.map((answer) => answer.status).sort()).toEqual([303, 400, 400, 400, 400, 400])
  })

  it('creates one account for a new person who uses several browsers at once', async () => {
    const people = times(4, browser)
    const backs = await Promise.all(
      people.map(async (person) => person.visit(await person.begin('provider_b'), 'everywhere')),
    )
    const answers = await Promise.all(people.map((person, i) => person.ask(backs[i]!)))
    expect(answers.map((answer) => answer.status)).toEqual([303, 303, 303, 303])
    expect(new Set((await Promise.all(people.map(me))).map((user) => user.id)).size).toBe(1)
  })

  it('completes attempts of two tabs in any order', async () => {
    const person = browser()
    const [first, second] = [await person.begin('provider_a'), await person.begin('provider_b')]
    expect((await person.ask(await person.visit(second, 'tabs-b'))).status).toBe(303)
    expect((await person.ask(await person.visit(first, 'tabs-a'))).status).toBe(303)
    expect((await me(person)).username).toBe('tabs-a')
  })

  it('expires an attempt after ten minutes, and deletes it', async () => {
    const person = browser()
    const [late, inTime] = [await person.begin('provider_a'), await person.begin('provider_a')]
    const { db } = innerState(service)
    await db.write((tx) =>
      tx.run(
        sql`DELETE FROM oauth_states WHERE state_hash NOT IN (SELECT state_hash FROM oauth_states ORDER BY expires_at DESC LIMIT 2)`,
      ),
    )
    ahead += 590 * SECOND
    const back = await person.visit(inTime, 'slow')
    const expired = await person.visit(late, 'slow')
    await service.chat.ops.prune()
    expect((await person.ask(back)).status).toBe(303)
    ahead += 600 * SECOND
    expect(await refusal(await person.ask(expired))).toEqual([400, 'oauth_state_invalid'])
    await person.begin('provider_a')
    ahead += 601 * SECOND
    await service.chat.ops.prune()
    expect(await db.all(sql`SELECT * FROM oauth_states`)).toEqual([])
  })

  it('links an identity to the signed-in user, and to no other', async () => {
    const ada = browser()
    await service.signIn('ada')
    const login = async (by: Browser, name: string) =>
      by.ask('/api/auth/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: `${name}@example.org`, password: PASSWORD }),
      })
    expect(await refusal(await ada.ask('/api/oauth/provider_a?link=true'))).toEqual([401, 'unauthenticated'])
    await login(ada, 'ada')
    const { id } = await me(ada)
    a.people.set('lovelace', { email: 'private@example.com' })
    const before = ada.cookie()
    const linked = await ada.signIn('provider_a', 'lovelace', { query: { link: 'true' } })
    expect(await linked.json()).toMatchObject({ user: { id, email: 'ada@example.org' } })
    expect((await browser().ask('/api/auth/me', { headers: { cookie: before } })).status).toBe(401)
    expect((await acts()).at(-1)).toMatchObject({ act: 'oauth.linked', actor_id: id })
    const elsewhere = browser()
    await elsewhere.signIn('provider_a', 'lovelace')
    expect((await me(elsewhere)).id).toBe(id)
    expect((await ada.signIn('provider_a', 'lovelace', { query: { link: 'true' } })).status).toBe(200)

    await service.signIn('eve')
    const eve = browser()
    await login(eve, 'eve')
    const stolen = await eve.signIn('provider_a', 'lovelace', { query: { link: 'true' } })
    expect(await refusal(stolen)).toEqual([409, 'conflict'])

    const back = await eve.visit(await eve.begin('provider_b', { link: 'true' }), 'eve-at-b')
    const { csrf_token } = (await (await login(eve, 'eve')).json()) as { csrf_token: string }
    await eve.ask('/api/auth/logout', { method: 'POST', headers: { 'x-csrf-token': csrf_token } })
    expect(await refusal(await eve.ask(back))).toEqual([400, 'oauth_state_invalid'])
  })

  it('refuses a user whose account is disabled', async () => {
    const person = browser()
    await person.signIn('provider_a', 'former')
    const { id } = await me(person)
    await innerState(service).db.write((tx) => tx.run(sql`UPDATE users SET disabled_at = 1 WHERE id = ${id}`))
    expect(await refusal(await browser().signIn('provider_a', 'former'))).toEqual([403, 'account_disabled'])
  })

  it('takes two calls of the typed client and a visit to the provider', async () => {
    const client = service.client()
    const params = { provider: 'provider_a' }
    const { auth_url } = await client.oauth.begin(params.provider, { redirect_to: '/unused' })
    const back = await browser().visit(auth_url, 'programmer')
    const { code, state, iss } = Object.fromEntries(new URLSearchParams(back.split('?')[1]))
    const { user } = await client.oauth.finish(params.provider, { code, state, iss })
    expect(await client.auth.me()).toMatchObject({ user: { id: user.id, username: 'programmer' } })
    expect((await client.oauth.begin(params.provider, { link: true })).auth_url).toContain(a.issuer)
  })

  it('completes a sign-in with a code entered by hand, with a state, with that of the browser, or without one', async () => {
    const post = (by: Browser, body: object, headers = {}) =>
      by.ask('/api/oauth/provider_a/manual', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    const codeFrom = async (by: Browser) => {
      const back = new URLSearchParams((await by.visit(await by.begin('provider_a'), 'byhand')).split('?')[1])
      return { auth_code: back.get('code')!, state: back.get('state')! }
    }
    const person = browser()
    const whole = await codeFrom(person)
    expect(await refusal(await post(browser(), whole))).toEqual([400, 'oauth_state_invalid'])
    expect(await (await post(person, whole)).json()).toMatchObject({ user: { username: 'byhand' } })
    expect(await refusal(await post(person, whole))).toEqual([403, 'csrf_failed'])

    const other = browser()
    const { auth_code } = await codeFrom(other)
    expect((await post(other, { auth_code })).headers.get('x-session-rotated')).toBe('1')

    // The provider requires the PKCE proof of the other browser.
    const stolen = await codeFrom(browser())
    expect(await refusal(await post(browser(), { auth_code: stolen.auth_code }))).toEqual([502, 'oauth_provider_error'])
    const crossSite = await post(browser(), stolen, { 'sec-fetch-site': 'cross-site' })
    expect(await refusal(crossSite)).toEqual([403, 'csrf_failed'])
  })

  it.each([
    '//evil.example',
    '/\\evil.example',
    '\\/evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    'evil.example',
    '',
    '/.//evil.example',
    '/x/..//evil.example',
    '/\t/evil.example',
    '/x\r\nLocation: https://evil.example',
    '/\u0000',
    `/${'x'.repeat(3000)}`,
  ])('never redirects to another site: %j', async (redirect_to) => {
    const response = await browser().ask(`/api/oauth/provider_a?${new URLSearchParams({ redirect_to })}`)
    expect(await refusal(response)).toEqual([422, 'validation_failed'])
  })

  it.each([
    ['code=a&code=b&state=x', 422],
    ['code[]=a&state=x', 422],
    [`code=${'x'.repeat(10_240)}&state=x`, 422],
    ['code=%00&state=x', 422],
    ['state=x', 422],
    ['state=x&state=y&code=x', 422],
    ['code=x&state=%F0%9F%92%A9', 400],
    ['code=x', 400],
    ['', 400],
  ])('refuses a callback with %s', async (query, status) => {
    const response = await browser().ask(`/api/oauth/provider_a/callback?${query}`)
    expect(response.status).toBe(status)
  })

  it('has disclosed no secret', async () => {
    const { db, metrics } = innerState(service)
    const rows = await Promise.all(
      ['users', 'identities', 'sessions', 'audit_log'].map((table) => db.all(statement(`SELECT * FROM ${table}`))),
    )
    const page = await metrics.render(() => NO_LEVELS)
    expect(page).not.toContain('oauth')
    const said = [...lines, JSON.stringify(rows), page].join('\n')
    expect(lines.length).toBeGreaterThan(10)
    expect(said).not.toMatch(/canary|eyJ[\w-]+\.|code=|thief/)
  })
})
