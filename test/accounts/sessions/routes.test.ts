import { beforeAll, expect, it } from 'vitest'
import { digest } from '../../../lib/core/ids.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, startService, times } from '../../support/service.ts'
import { signInByHand } from '../../support/stream.ts'

describeOnEachDatabase('sessions', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: { session, security: { password: { bcrypt_cost: 4 } } },
      ports: { now: () => now },
    }),
  )
  let now = Date.UTC(2026, 0, 1) * 1000
  const session = { idle_seconds: 1000, absolute_seconds: 5000, max_sessions_per_user: 3 }
  const later = (seconds: number) => {
    now += seconds * SECOND
  }
  beforeAll(async () => {
    await service.signIn('ada')
  })

  const me = async (headers: Record<string, string>) => {
    const response = await checkedFetch(`${service.base_url}/api/auth/me`, { headers })
    return {
      status: response.status,
      cookies: response.headers.getSetCookie(),
      ...((await response.json()) as { code?: string; user?: object; session?: { id: string; expires_at: string } }),
    }
  }
  const post = (path: string, headers: Record<string, string>, body?: object) =>
    checkedFetch(service.base_url + path, {
      method: 'POST',
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  const ada = () => signInByHand(service.base_url, 'ada@example.org', PASSWORD)

  it('sign in with two cookies, and with no token in the body', async () => {
    const response = await post('/api/auth/login', {}, { email: ' ADA@example.org ', password: PASSWORD })
    expect(response.headers.get('x-session-rotated')).toBe('1')
    const [sessionCookie, csrfCookie, deviceCookie, ...more] = response.headers.getSetCookie()
    expect(more).toEqual([])
    expect(deviceCookie).toMatch(/^SESSION_ID-DEVICE=[\w-]{43}; Path=\/; Max-Age=15552000; HttpOnly; SameSite=Lax$/)
    expect(sessionCookie).toMatch(/^SESSION_ID=[\w-]{43}; Path=\/; Max-Age=5000; HttpOnly; SameSite=Lax$/)
    expect(csrfCookie).toMatch(/^CSRF-TOKEN=[\w-]{43}; Path=\/; Max-Age=5000; SameSite=Strict$/)
    const body = await response.text()
    expect(body).not.toContain(/=([\w-]{43})/.exec(sessionCookie!)![1])
    expect(JSON.parse(body).csrf_token).toBe(/=([\w-]{43})/.exec(csrfCookie!)![1])
  })

  it('store no usable token', async () => {
    const headers = await ada()
    const token = /SESSION_ID=([\w-]+)/.exec(headers.cookie)![1]!
    const rows = JSON.stringify(await innerState(service).db.all(sql`SELECT * FROM sessions`))
    expect(rows).not.toContain(token)
    expect(rows).not.toContain(headers['x-csrf-token'])
    expect(rows).toContain(digest(token))
    expect(await me({ cookie: `SESSION_ID=${digest(token)}` })).toMatchObject({ status: 401, code: 'unauthenticated' })
  })

  it('return the same error for a wrong email and a wrong password', async () => {
    const bodies = await Promise.all(
      [
        { email: 'ada@example.org', password: 'wrong password' },
        { email: 'nobody@example.org', password: PASSWORD },
        { email: 'not an address', password: PASSWORD },
        { email: "' OR 1=1--", password: PASSWORD },
        { email: 'ada@example.org', password: '' },
        { email: 'ada@example.org', password: 'x'.repeat(1_024) },
      ].map(async (body) => {
        const response = await post('/api/auth/login', {}, body)
        const { request_id: _, ...problem } = (await response.json()) as Record<string, unknown>
        return { status: response.status, cookies: response.headers.getSetCookie(), problem }
      }),
    )
    for (const body of bodies) expect(body).toEqual(bodies[0])
    expect(bodies[0]).toMatchObject({ status: 401, cookies: [], problem: { code: 'invalid_credentials' } })
  })

  it('refuse an email or a password that is too long, without repeating it', async () => {
    const tooLong = { email: `${'e'.repeat(251)}@a.b`, password: 'p'.repeat(1_025) }
    for (const [field, value] of Object.entries(tooLong)) {
      const response = await post(
        '/api/auth/login',
        {},
        { email: 'ada@example.org', password: PASSWORD, [field]: value },
      )
      const body = await response.text()
      expect([response.status, JSON.parse(body).errors]).toEqual([
        422,
        [{ path: field, message: `must be at most ${value.length - 1} characters` }],
      ])
    }
    const response = await post('/api/auth/login', {}, { email: ['secret'], password: { secret: true } })
    expect(await response.text()).not.toContain('secret')
  })

  it('accept a password in every Unicode form', async () => {
    await service.chat.users.create(
      { user_id: '', roles: ['admin'] },
      { username: 'zoe', email: 'zoe@example.org', password: 'pass\u0065\u0301word' },
    )
    const client = service.client()
    await client.auth.login({ email: '\uFF5Aoe@example.org', password: 'pass\u00E9word' })
    expect((await client.auth.me()).user.username).toBe('zoe')
  })

  it('do not accept a token that the client chose', async () => {
    const chosen = 'a'.repeat(43)
    const response = await post(
      '/api/auth/login',
      { cookie: `SESSION_ID=${chosen}` },
      { email: 'ada@example.org', password: PASSWORD },
    )
    expect(response.headers.getSetCookie()[0]).not.toContain(chosen)
    expect(await me({ cookie: `SESSION_ID=${chosen}` })).toMatchObject({ status: 401, code: 'unauthenticated' })
  })

  it('end when a new sign-in replaces them', async () => {
    const first = await ada()
    await post('/api/auth/login', first, { email: 'zoe@example.org', password: 'pass\u00E9word' })
    expect(await me(first)).toMatchObject({ code: 'unauthenticated' })
  })

  it.each([
    ['no cookie', ''],
    ['an unknown token', `SESSION_ID=${'x'.repeat(43)}`],
    ['a short token', 'SESSION_ID=abc'],
    ['a token of 4 KiB', `SESSION_ID=${'x'.repeat(4096)}`],
    ['an encoded NUL', 'SESSION_ID=%00'],
    ['quotes', `SESSION_ID="${'x'.repeat(43)}"`],
    ['another name', `session_id=${'x'.repeat(43)}`],
  ])('are not accepted with %s', async (_, cookie) => {
    const answer = await me(cookie ? { cookie } : {})
    expect(answer).toMatchObject({ status: 401, code: 'unauthenticated' })
    // They may be newer than this call: only those of an expired session are cleared.
    expect(answer.cookies).toEqual([])
  })

  it.each([
    ['in quotes', (token: string) => `SESSION_ID="${token}"`],
    ['after a space', (token: string) => `SESSION_ID= ${token}`],
    ['with a space in it', (token: string) => `SESSION_ID=${token.slice(0, 20)} ${token.slice(20)}`],
    ['before a comma', (token: string) => `SESSION_ID=${token},`],
    ['with a letter too many', (token: string) => `SESSION_ID=${token}\u00E9`],
    ['under its name in small letters', (token: string) => `session_id=${token}`],
    ['beside an empty one', (token: string) => `SESSION_ID=${token}; SESSION_ID=`],
  ])('are not accepted with the right token %s', async (_, cookieOf) => {
    const token = /SESSION_ID=([\w-]+)/.exec((await ada()).cookie)![1]!
    expect(await me({ cookie: cookieOf(token) })).toMatchObject({ status: 401, code: 'unauthenticated' })
    expect(await me({ cookie: `SESSION_ID=${token}` })).toMatchObject({ status: 200 })
  })

  it('are not accepted with two different session cookies, in either order', async () => {
    const { cookie } = await ada()
    const other = `SESSION_ID=${'x'.repeat(43)}`
    expect(await me({ cookie: `${cookie}; ${other}` })).toMatchObject({ code: 'unauthenticated' })
    expect(await me({ cookie: `${other}; ${cookie}` })).toMatchObject({ code: 'unauthenticated' })
    expect(await me({ cookie: `${cookie}; ${cookie}` })).toMatchObject({ status: 200 })
  })

  it('accept a session token in its cookie only', async () => {
    const { cookie } = await ada()
    const token = /SESSION_ID=([\w-]+)/.exec(cookie)![1]
    expect(await me({ authorization: `Bearer ${token}` })).toMatchObject({ code: 'unauthenticated' })
    const response = await checkedFetch(`${service.base_url}/api/auth/me?SESSION_ID=${token}`)
    expect(response.status).toBe(401)
  })

  it('get two new tokens at a refresh; the old ones become invalid at once', async () => {
    const old = await ada()
    const before = await me(old)
    later(100)
    const response = await post('/api/auth/refresh', old)
    expect(response.headers.get('x-session-rotated')).toBe('1')
    const fresh = response.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
    const body = (await response.json()) as { csrf_token: string; session: { id: string; absolute_expires_at: string } }
    expect(body.session).toMatchObject({ id: before.session!.id })
    expect(await me(old)).toMatchObject({ code: 'unauthenticated' })
    expect(await me({ cookie: fresh })).toMatchObject({ status: 200 })
    expect((await post('/api/auth/refresh', { cookie: fresh, 'x-csrf-token': old['x-csrf-token'] })).status).toBe(403)
    expect((await post('/api/auth/refresh', { cookie: fresh, 'x-csrf-token': body.csrf_token })).status).toBe(200)
  })

  it('let one of several concurrent refreshes succeed', async () => {
    const headers = await ada()
    const answers = await Promise.all(times(8, () => post('/api/auth/refresh', headers)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(7).fill(401)])
  })

  it('expire after the idle limit, not at it', async () => {
    const headers = await ada()
    later(1000)
    expect(await me(headers)).toMatchObject({ status: 200 })
    later(1000.000001)
    const expired = await me(headers)
    expect(expired).toMatchObject({ status: 401, code: 'session_expired' })
    expect(expired.cookies.every((cookie) => cookie.includes('Max-Age=0'))).toBe(true)
    expect((await post('/api/auth/refresh', headers)).status).toBe(401)
    later(-900)
    expect(await me(headers), 'the clock was put back').toMatchObject({ status: 401, code: 'session_expired' })
    later(900)
  })

  it('never outlive their absolute limit, however much they are used', async () => {
    const headers = await ada()
    for (let i = 0; i < 5; i++) {
      expect(await me(headers)).toMatchObject({ status: 200 })
      later(999)
    }
    expect(await me(headers)).toMatchObject({ status: 200 })
    later(5.000001)
    expect(await me(headers)).toMatchObject({ status: 401, code: 'session_expired' })
  })

  it('store their use once a minute at most', async () => {
    const headers = await ada()
    const deadline = async () => (await me(headers)).session!.expires_at
    const first = await deadline()
    later(59)
    expect(await deadline()).toBe(first)
    later(1)
    expect(await deadline()).not.toBe(first)
  })

  it('evict the oldest one beyond the limit, also with twenty sign-ins at once', async () => {
    const sessions = []
    for (let i = 0; i < 4; i++) {
      sessions.push(await ada())
      later(1)
    }
    expect((await Promise.all(sessions.map(me))).map((answer) => answer.status)).toEqual([401, 200, 200, 200])
    const many = await Promise.all(times(20, ada))
    const live = (await Promise.all([...sessions, ...many].map(me))).filter((answer) => answer.status === 200)
    expect(live).toHaveLength(3)
  })

  it('sign out: both cookies are cleared as they were set, the token is invalid', async () => {
    const headers = await ada()
    const response = await post('/api/auth/logout', headers)
    expect(response.status).toBe(204)
    expect(response.headers.getSetCookie()).toEqual([
      'SESSION_ID=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
      'CSRF-TOKEN=; Path=/; Max-Age=0; SameSite=Strict',
    ])
    expect(await me(headers)).toMatchObject({ code: 'unauthenticated' })
    expect((await post('/api/auth/logout', headers)).status).toBe(401)
  })

  it('are refused for a disabled account at once', async () => {
    const headers = await ada()
    const { db } = innerState(service)
    await db.write((tx) => tx.run(sql`UPDATE users SET disabled_at = 1 WHERE username = 'ada'`))
    expect(await me(headers)).toMatchObject({ code: 'unauthenticated' })
    const client = service.client()
    expect(await codeOf(client.auth.login({ email: 'ada@example.org', password: PASSWORD }))).toBe('account_disabled')
    expect(await codeOf(client.auth.login({ email: 'ada@example.org', password: 'wrong' }))).toBe('invalid_credentials')
    await db.write((tx) => tx.run(sql`UPDATE users SET disabled_at = NULL, roles = 'member' WHERE username = 'ada'`))
    expect(await me(headers)).toMatchObject({ status: 200, user: { roles: ['member'] } })
  })

  it('refuse a sign-in from another site', async () => {
    const response = await post(
      '/api/auth/login',
      { 'sec-fetch-site': 'cross-site' },
      { email: 'ada@example.org', password: PASSWORD },
    )
    expect(response.status).toBe(403)
    expect(response.headers.getSetCookie()).toEqual([])
  })
})

it('take the names and attributes of cookies and header from the configuration', async () => {
  const security = {
    cookie: { domain: 'example.org', secure: true, same_site: 'strict' },
    csrf: { cookie_name: 'XSRF', header_name: 'X-XSRF' },
    password: { bcrypt_cost: 4 },
  }
  const service = await startService('sqlite::memory:', {
    config: { security, session: { session_cookie_name: 'SID' } },
  })
  await service.signIn('ada')
  const response = await fetch(`${service.base_url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.org', password: PASSWORD }),
  })
  const [sid, xsrf] = response.headers.getSetCookie()
  expect(sid).toMatch(/^SID=[\w-]{43}; Path=\/; Max-Age=604800; Domain=example.org; Secure; HttpOnly; SameSite=Strict$/)
  expect(xsrf).toMatch(/^XSRF=[\w-]{43}; Path=\/; Max-Age=604800; Domain=example.org; Secure; SameSite=Strict$/)
  const { csrf_token } = (await response.json()) as { csrf_token: string }
  const cookie = `${sid!.split(';')[0]}; ${xsrf!.split(';')[0]}`
  const logout = (headers: Record<string, string>) =>
    fetch(`${service.base_url}/api/auth/logout`, { method: 'POST', headers: { cookie, ...headers } })
  expect((await logout({ 'x-csrf-token': csrf_token })).status).toBe(403)
  expect((await logout({ 'x-xsrf': csrf_token })).status).toBe(204)
  await service.close()
})

it('check no CSRF token when CSRF is disabled, but still refuse other sites', async () => {
  const service = await startService('sqlite::memory:', {
    config: { security: { csrf: { enabled: false }, password: { bcrypt_cost: 4 } } },
  })
  await service.signIn('ada')
  const { cookie } = await signInByHand(service.base_url, 'ada@example.org', PASSWORD)
  const logout = (headers: Record<string, string>) =>
    fetch(`${service.base_url}/api/auth/logout`, { method: 'POST', headers: { cookie, ...headers } })
  expect((await logout({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect((await logout({})).status).toBe(204)
  await service.close()
})

it('hide all of /api when sign-in is disabled', async () => {
  const service = await startService('sqlite::memory:', { config: { features: { auth_v1: false } } })
  for (const path of ['/api/setup', '/api/auth/me', '/api/conversations']) {
    expect((await checkedFetch(service.base_url + path)).status).toBe(404)
  }
  expect((await checkedFetch(`${service.base_url}/healthz`)).status).toBe(200)
  expect((await checkedFetch(`${service.base_url}/openapi.json`)).status).toBe(200)
  await service.close()
})
