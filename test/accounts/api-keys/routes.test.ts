import { beforeAll, describe, expect, it } from 'vitest'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { toInstant } from '../../../lib/core/time.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { allRoutes } from '../../support/all-routes.ts'
import { checkedFetch, readFailure } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import {
  codeOf,
  innerState,
  PASSWORD,
  type Person,
  startService,
  times,
  UNREACHABLE_PROVIDER,
} from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

describeOnEachDatabase('API keys', (openUrl) => {
  const [service, node] = setUpNodes(async () => {
    const url = await openUrl()
    const config = { oauth: { provider_a: UNREACHABLE_PROVIDER } }
    return [
      await startService(url, { config, ports: { now: () => now } }),
      await startService(url, { ports: { now: () => now } }),
    ]
  })
  let ada: Person
  let now = Date.UTC(2026, 0, 1) * 1000
  beforeAll(async () => {
    ada = await service.signIn('ada')
  })

  const withKey = (api_key: string, base_url = service.base_url) =>
    createAdminClient({ base_url, fetch: checkedFetch, retry_ms: 10, api_key })
  const make = (expires_at?: string) => ada.keys.create({ name: 'a bot', ...(expires_at && { expires_at }) })
  const me = async (headers: Record<string, string>) => {
    const response = await checkedFetch(`${service.base_url}/api/auth/me`, { headers })
    return response.ok ? 'ok' : (await readFailure(response)).code
  }

  it('act as their user without a CSRF token, and are returned once', async () => {
    const { key, ...rest } = await make()
    expect(key).toMatch(/^cs_[\w-]{43}$/)
    expect(rest).toEqual({ id: expect.any(String), name: 'a bot' })
    const bot = withKey(key)
    const { user, receipts, can } = await ada.auth.me()
    expect(await bot.auth.me()).toEqual({ user, receipts, can })
    const { conversation_id } = await bot.conversations.create({ title: 'Bots' })
    await bot.messages.postRoot(conversation_id, { content: 'beep' })
    expect((await ada.threads.list(conversation_id)).threads).toHaveLength(1)
    expect((await bot.auth.changeProfile({ display_name: 'Ada' })).user.display_name).toBe('Ada')
    expect(JSON.stringify(await ada.keys.list())).not.toContain(key)
    expect((await bot.users.list()).users.length).toBeGreaterThan(0)
  })

  it('are listed newest first with their last use, which is stored at most once a minute', async () => {
    const { id, key } = await make(toInstant(now + 3600 * SECOND))
    const listed = async () => (await ada.keys.list()).keys.find((each) => each.id === id)
    const created_at = toInstant(now)
    const expires_at = toInstant(now + 3600 * SECOND)
    expect(await listed()).toEqual({ id, name: 'a bot', created_at, expires_at })
    const used = []
    for (const seconds of [0, 59, 1]) {
      now += seconds * SECOND
      await withKey(key).auth.me()
      used.push((await listed())!.last_used_at)
    }
    expect(used).toEqual([created_at, created_at, toInstant(now)])
  })

  it('are revoked by their user only, and lose their streams on every node', async () => {
    const eve = await service.signIn('eve')
    const { id, key } = await make()
    const streams = [
      await openStream(service.base_url, undefined, { authorization: `Bearer ${key}` }),
      await openStream(node.base_url, undefined, { authorization: `Bearer ${key}` }),
    ]
    for (const stream of streams) await stream.until('stream.ready')
    for (const foreign of [id, 'nope']) {
      expect(await codeOf(eve.keys.revoke(foreign))).toBe('not_found')
    }
    expect(await me({ authorization: `bearer  ${key}` })).toBe('ok')
    await ada.keys.revoke(id)
    for (const stream of streams)
      expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    expect(await codeOf(withKey(key).auth.me())).toBe('unauthenticated')
    expect(await codeOf(withKey(key, node.base_url).auth.me())).toBe('unauthenticated')
    expect(await codeOf(ada.keys.revoke(id))).toBe('not_found')
    const acts = await innerState(service).db.all(
      sql`SELECT act, actor_id, ip, detail FROM audit_log WHERE subject_id = ${id} AND act LIKE 'key.%' ORDER BY id`,
    )
    // The name of a key is its user's text and is erased with the user: the audit log does not store it.
    const entry = { actor_id: ada.id, ip: '127.0.0.1', detail: null }
    expect(acts).toEqual(['key.created', 'key.revoked'].map((act) => ({ act, ...entry })))
  })

  it('expire after the given instant, not at it', async () => {
    const { key, expires_at } = await make(toInstant(now + 100 * SECOND))
    expect(expires_at).toBe(toInstant(now + 100 * SECOND))
    const stream = await openStream(service.base_url, undefined, { authorization: `Bearer ${key}` })
    await stream.until('stream.ready')
    now += 100 * SECOND
    expect(await codeOf(withKey('cs_wrong').auth.me())).toBe('unauthenticated')
    await withKey(key).auth.me()
    now += 1
    expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    expect(await codeOf(withKey(key).auth.me())).toBe('unauthenticated')
  })

  it("become invalid when their user is disabled, and lose rights with their user's roles", async () => {
    const grace = await service.signIn('grace')
    const { key } = await grace.keys.create({ name: 'hers' })
    const { db } = innerState(service)
    const bot = withKey(key)
    await db.write((tx) => tx.run(sql`UPDATE users SET roles = 'read_only' WHERE username = 'grace'`))
    expect(await codeOf(bot.conversations.create())).toBe('forbidden')
    await db.write((tx) => tx.run(sql`UPDATE users SET disabled_at = 1 WHERE username = 'grace'`))
    expect(await codeOf(bot.auth.me())).toBe('unauthenticated')
  })

  it('have precedence over a cookie: an invalid key is unauthenticated', async () => {
    const { key } = await make()
    const signedIn = await service.chat.auth.login({}, { email: ada.email, password: 'correct horse battery' })
    const cookie = `SESSION_ID=${signedIn.token}`
    expect(await me({ cookie })).toBe('ok')
    const others = [signedIn.token, `${key}x`, key.slice(3), key.toUpperCase(), 'cs_', '', 'a b', `"${key}"`]
    for (const token of others) expect(await me({ cookie, authorization: `Bearer ${token}` })).toBe('unauthenticated')
    // Other schemes are between the client and a proxy.
    expect(await me({ cookie, authorization: 'Basic YTpi' })).toBe('ok')
    expect(await me({ cookie: 'SESSION_ID=unknown', authorization: `Bearer ${key}` })).toBe('ok')
    const response = await checkedFetch(`${service.base_url}/api/auth/me?api_key=${key}`)
    expect(response.status).toBe(401)
    const accept = await checkedFetch(`${service.base_url}/api/invites/accept`, {
      method: 'POST',
      headers: { authorization: 'Bearer cs_wrong', 'content-type': 'application/json' },
      body: JSON.stringify({
        token: 'x',
        username: 'new',
        email: 'new@example.org',
        password: 'correct horse battery',
      }),
    })
    expect((await readFailure(accept)).code).toBe('unauthenticated')
  })

  it('identify the caller to a host that calls authenticate', async () => {
    const { id, key } = await make()
    const actor = await service.chat.auth.authenticate(new Headers({ authorization: `Bearer ${key}` }))
    expect(actor).toEqual({ user_id: ada.id, roles: ['admin', 'member'], key_id: id })
    expect(await codeOf(service.chat.keys.create(actor, { name: 'more' }))).toBe('forbidden')
  })

  const VALID: Record<string, object> = {
    authChangePassword: { current_password: 'correct horse battery', new_password: 'incorrect pony' },
    authConfirm: { password: 'correct horse battery' },
    keysCreate: { name: 'another' },
    emailsRequestChange: { email: 'another@example.org' },
  }
  const ownSignIn = allRoutes.filter(([, route]) => route.sign_in && route.access === 'session')
  it.each(ownSignIn.map(([name, route]) => ({ name, route })))('may not call $name', async ({ name, route }) => {
    const { key } = await make()
    const body = VALID[name] && JSON.stringify(VALID[name])
    const response = await checkedFetch(service.base_url + route.path.replace(/\{\w+\}/, 'x'), {
      method: route.method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body }),
    })
    expect([response.status, (await readFailure(response)).code]).toEqual([403, 'forbidden'])
  })

  it('of an administrator create no separate access, and lock no user out', async () => {
    const { id, key } = await make()
    const bot = withKey(key)
    const grace = await service.signIn('grace-of-keys')
    const person = { username: 'made', email: 'made@example.org' }
    const password = 'incorrect pony'
    const params = { user_id: grace.id }
    const refused = [
      bot.users.create({ ...person, password }),
      bot.users.create({ ...person, roles: ['admin'] }),
      bot.users.change(params.user_id, { password }),
      bot.users.change(ada.id, { password }),
      bot.users.change(params.user_id, { roles: ['admin'] }),
      bot.users.change(params.user_id, { disabled: true }),
      bot.users.erase(params.user_id, {}),
      bot.auth.changeProfile({ username: 'another' }),
      bot.oauth.begin('provider_a', { link: true }),
    ]
    expect(await Promise.all(refused.map(codeOf))).toEqual(refused.map(() => 'forbidden'))
    // The rules are in the use-cases: they apply to calls in process as well.
    const actor = { ...(await service.chat.users.actor(ada.id)), key_id: id }
    expect(await codeOf(service.chat.users.erase(actor, grace.id))).toBe('forbidden')
    expect(await codeOf(service.chat.resets.issue(actor, { email: ada.email }))).toBe('forbidden')
    expect(await codeOf(service.chat.identities.list(actor))).toBe('forbidden')

    const { user } = await bot.users.change(params.user_id, { display_name: 'Grace' })
    expect(user.display_name).toBe('Grace')
    expect((await bot.users.create(person)).user.roles).toEqual(['member'])
    await service.chat.auth.login({}, { email: grace.email, password: 'correct horse battery' })
  })

  describe('creating an API key', () => {
    it.each([
      ['without a name', { name: '' }],
      ['with an invisible name', { name: ' \u200b' }],
      ['with a line break in the name', { name: 'a\nb' }],
      ['with a long name', { name: 'x'.repeat(101) }],
      ['with an end that is none', { name: 'x', expires_at: 'tomorrow' }],
    ])('is refused: not %s', async (_, body) => {
      expect(await codeOf(ada.keys.create(body))).toBe('validation_failed')
    })

    it('is refused with an expiry in the past', async () => {
      const body = { name: 'x', expires_at: '2020-01-01T00:00:00Z' }
      expect(await codeOf(ada.keys.create(body))).toBe('conflict')
    })

    it('is limited to a hundred at once over all nodes, then one a minute, including failed calls', async () => {
      const person = await service.signIn('busy')
      const headers = await signInByHand(service.base_url, person.email, PASSWORD)
      const post = (name: number) =>
        checkedFetch(`${[service, node][name % 2]!.base_url}/api/auth/keys`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ name: `key ${name}` }),
        })
      const answers = await Promise.all(times(110, post))
      const count = (status: number) => answers.filter((answer) => answer.status === status).length
      expect([count(201), count(409), count(429)]).toEqual([50, 50, 10])
      const refused = await post(0)
      expect([(await readFailure(refused)).code, refused.headers.get('retry-after')]).toEqual(['rate_limited', '60'])
      // Calls of another user are not counted.
      await (await service.signIn('idle')).keys.create({ name: 'the first' })

      now += 60 * SECOND - 1
      expect((await post(1)).status).toBe(429)
      now += 1
      const [key] = (await person.keys.list()).keys
      await person.keys.revoke(key!.id)
      expect([(await post(2)).status, (await post(3)).status]).toEqual([201, 429])
    })

    it('is limited to fifty keys per user, however many calls arrive at once', async () => {
      const dora = await service.signIn('dora')
      const actor = await service.chat.users.actor(dora.id)
      const results = await Promise.allSettled(
        times(60, (index) => [service, node][index % 2]!.chat.keys.create(actor, { name: `key ${index}` })),
      )
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(50)
      expect(await codeOf(dora.keys.create({ name: 'one more' }))).toBe('conflict')
    })
  })
})
