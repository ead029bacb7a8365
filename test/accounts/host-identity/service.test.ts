import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { insertRequest } from '../../../lib/accounts/mails/store.ts'
import { lockUser } from '../../../lib/accounts/users/store.ts'
import { createChatClient } from '../../../lib/client/index.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { type Actor, type Identity, type IdentityRequest, OPERATOR } from '../../../lib/index.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { nextOfType } from '../../live/readers.ts'
import { allRoutes } from '../../support/all-routes.ts'
import { checkedFetch, readFailure } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, PASSWORD, startService, type TestService, times } from '../../support/service.ts'
import { openStream } from '../../support/stream.ts'

describeOnEachDatabase("the host's own authentication", (openUrl) => {
  let service: TestService
  let node: TestService
  /** On the same database, with the service's own sign-in. */
  let plain: TestService
  /** The host's users, by the header of its own authentication. */
  const people = new Map<string, Identity>()
  const seen: IdentityRequest[] = []
  const identity = async (request: IdentityRequest) => {
    seen.push(request)
    // As a database returns it that has found no row.
    return people.get(request.headers.get('x-host-user') ?? '') ?? null
  }
  beforeAll(async () => {
    const url = await openUrl()
    service = await startService(url, { ports: { identity } })
    node = await startService(url, { ports: { identity } })
    plain = await startService(url)
    people.set('ada', { subject: '1', username: 'ada', email: 'ada@example.org', roles: ['admin'] })
  })
  afterAll(() => Promise.all([service.close(), node.close(), plain.close()]))

  const as = (name: string) =>
    createChatClient({
      base_url: service.base_url,
      retry_ms: 10,
      fetch: (input, init) => checkedFetch(input, { ...init, headers: { ...init?.headers, 'x-host-user': name } }),
    })
  const users = () => innerState(service).db.all<{ username: string }>(sql`SELECT username, email, roles FROM users`)

  it('identifies the caller: a new subject becomes a user, without a session or a CSRF token', async () => {
    expect(await codeOf(as('nobody').auth.me())).toBe('unauthenticated')
    const { user, ...rest } = await as('ada').auth.me()
    const ada = { username: 'ada', email: 'ada@example.org', email_verified: true, roles: ['admin'] }
    expect([user, rest]).toEqual([
      { id: expect.any(String), ...ada },
      { receipts: true, can: expect.any(Object) },
    ])
    expect(seen.at(-1)!.ip).toBe('127.0.0.1')
    const { conversation_id } = await as('ada').conversations.create()
    await as('ada').messages.postRoot(conversation_id, { content: 'from the host' })
    expect((await as('ada').auth.me()).user.id).toBe(user.id)
    expect(await service.chat.auth.authenticate(new Headers({ 'x-host-user': 'ada' }))).toEqual({
      user_id: user.id,
      roles: ['admin'],
    })
    expect(await codeOf(service.client().setup.get())).toBe('not_found')
    const created = "SELECT actor_id, subject_id, ip FROM audit_log WHERE act = 'user.created'"
    expect(await innerState(service).db.all(statement(created))).toEqual([
      { actor_id: null, subject_id: user.id, ip: '127.0.0.1' },
    ])
  })

  it('ends the invites of newcomers of a user who administers no more', async () => {
    const { newcomers } = service.chat
    const context = innerState(service)
    people.set('ida', { subject: 'ida', username: 'ida', email: 'ida@example.org', roles: ['admin'] })
    const { id: created_by } = (await as('ida').auth.me()).user
    // From a time before the host had its own authentication.
    const address = { email: 'friend@example.org', email_key: 'friend@example.org', roles: 'admin', user_id: null }
    const times = { created_at: context.now(), expires_at: context.now() + 3600 * SECOND }
    const invite = { id: context.id(), kind: 'invite' as const, created_by, ...address, ...times }
    await context.write((tx) => insertRequest(tx, invite))
    people.set('ida', { subject: 'ida', username: 'ida', email: 'ida@example.org', roles: ['member'] })
    await as('ida').auth.me()
    expect((await newcomers.list(OPERATOR)).invites).toEqual([])
  })

  it('needs no first administrator', async () => {
    const empty = await startService(await openUrl(), { ports: { identity } })
    const { user } = await empty.chat.users.create(OPERATOR, { username: 'grace', email: 'grace@example.org' })
    expect(user.username).toBe('grace')
    const setup = await fetch(`${empty.base_url}/api/setup`)
    expect(setup.status).toBe(404)
    await empty.close()
  })

  it('creates one user when many first requests of one subject arrive at once, on two nodes', async () => {
    people.set('many', { subject: 'many', username: 'many', email: 'many@example.org' })
    people.set('bare', { subject: 'bare' })
    for (const name of ['many', 'bare']) {
      const headers = new Headers({ 'x-host-user': name })
      const found = await Promise.all(times(20, (i) => [service, node][i % 2]!.chat.auth.authenticate(headers)))
      expect(new Set(found.map((actor) => actor.user_id)).size).toBe(1)
    }
    expect((await users()).filter((user) => user.username.startsWith('many'))).toHaveLength(1)
    const { user } = await as('bare').auth.me()
    expect(user).toEqual({
      id: user.id,
      username: expect.stringMatching(/^user-/),
      email_verified: false,
      roles: ['member'],
    })
    expect(await service.chat.users.find(OPERATOR, user.id)).not.toHaveProperty('email')
    people.set('bare', { subject: 'bare', email: 'bare@example.org' })
    expect((await as('bare').auth.me()).user).toMatchObject({ email: 'bare@example.org', email_verified: true })
  })

  it('updates the fields that the host changes, and keeps the others', async () => {
    people.set('grace', { subject: '2', username: 'grace', email: 'grace@example.org', display_name: 'Grace' })
    const { id } = (await as('grace').auth.me()).user
    people.set('grace', { subject: '2', username: 'hopper', display_name: '', roles: ['read_only'] })
    expect((await as('grace').auth.me()).user).toEqual({
      id,
      username: 'hopper',
      email: 'grace@example.org',
      email_verified: true,
      roles: ['read_only'],
    })
    expect(await codeOf(as('grace').conversations.create())).toBe('forbidden')
    const written = () =>
      innerState(service).db.get(sql`SELECT count(*) AS count FROM audit_log WHERE act = 'user.changed'`)
    const before = await written()
    await as('grace').auth.me()
    expect(await written()).toEqual(before)
  })

  it('does not restore a role that is removed at the same moment', async () => {
    people.set('eve', { subject: 'eve', username: 'eve' })
    const { id } = (await as('eve').auth.me()).user
    const { db, write } = innerState(service)
    await db.write((tx) => tx.run(sql`UPDATE users SET roles = 'admin,member' WHERE id = ${id}`))
    people.set('eve', { subject: 'eve', username: 'eve', display_name: 'Eve' })
    let met: Promise<unknown> | undefined
    await write(async (tx) => {
      await lockUser(tx, id)
      await tx.run(sql`UPDATE users SET roles = 'member' WHERE id = ${id}`)
      met = node.chat.auth.authenticate(new Headers({ 'x-host-user': 'eve' }))
      await delay(300)
    })
    await met
    const { user } = await as('eve').auth.me()
    expect([user.roles, user.display_name]).toEqual([['member'], 'Eve'])
  })

  it('never gives access to the account of another user, and refuses no caller for a name in use', async () => {
    people.set('impostor', { subject: '3', username: 'ADA', email: 'ada@example.org' })
    const [ada, impostor] = [(await as('ada').auth.me()).user, (await as('impostor').auth.me()).user]
    expect(impostor.id).not.toBe(ada.id)
    expect(impostor).toMatchObject({ username: expect.stringMatching(/^ADA-[0-9a-f]{12}$/), roles: ['member'] })
    expect(impostor).not.toHaveProperty('email')
    expect((await as('impostor').auth.me()).user).toEqual(impostor)
  })

  it('ignores values that cannot be stored', async () => {
    const roles = ['editor'] as unknown as ['member']
    people.set('odd', { subject: 'x\u2028', username: 'a\nb', email: 'none', display_name: 'x'.repeat(201), roles })
    const { user } = await as('odd').auth.me()
    expect(user).toEqual({
      id: user.id,
      username: expect.stringMatching(/^user-/),
      email_verified: false,
      roles: ['read_only'],
    })
  })

  it('without roles gives a member, and with unknown ones alone a user who only reads', async () => {
    const rolesFor = async (roles: readonly string[] | undefined) => {
      people.set('sue', { subject: 'sue', ...(roles && { roles }) } as Identity)
      return (await as('sue').auth.me()).user.roles
    }
    expect(await rolesFor(undefined)).toEqual(['member'])
    expect(await rolesFor(['editor', 'clerk'])).toEqual(['read_only'])
    expect(await rolesFor(['editor', 'member'])).toEqual(['member'])
    expect(await rolesFor([])).toEqual(['member'])
  })

  it('does not re-enable a disabled user, whose requests are refused and whose streams end', async () => {
    people.set('dora', { subject: '4', username: 'dora' })
    const { user } = await as('dora').auth.me()
    const abort = new AbortController()
    const reader = as('dora').events.followAll({ signal: abort.signal })
    for (const type of ['stream.ready', 'notifications.count'])
      expect((await reader.next()).value!.event.type).toBe(type)
    await innerState(service).write(async (tx) => {
      await tx.run(sql`UPDATE users SET disabled_at = 1 WHERE id = ${user.id}`)
      tx.recheckStreams({ user_id: user.id })
    })
    expect(await nextOfType(reader, 'stream.closed')).toMatchObject({ payload: { reason: 'session_ended' } })
    abort.abort()
    expect(await codeOf(as('dora').auth.me())).toBe('unauthenticated')
  })

  it("replaces the service's own sign-in: its routes are 404, its cookies and keys have no effect", async () => {
    for (const [name, route] of allRoutes.filter(([, each]) => each.sign_in)) {
      const response = await checkedFetch(service.base_url + route.path.replace(/\{\w+\}/, 'x'), {
        method: route.method,
        headers: { 'x-host-user': 'ada', ...(route.body && { 'content-type': 'application/json' }) },
        ...(route.body && { body: '{}' }),
      })
      expect([name, (await readFailure(response)).code]).toEqual([name, 'not_found'])
    }
    const { user } = await as('ada').auth.me()
    const ada: Actor = { user_id: user.id, roles: ['admin'] }
    await expect(service.chat.keys.create(ada, { name: 'a key' })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('With ports.identity an API key has no effect'),
    })
    const { key } = await plain.chat.keys.create(ada, { name: 'a key' })
    const attempts: [string, string][] = [
      ['authorization', `Bearer ${key}`],
      ['cookie', 'SESSION_ID=x'],
    ]
    for (const header of attempts) {
      expect((await checkedFetch(`${service.base_url}/api/auth/me`, { headers: [header] })).status).toBe(401)
    }
    expect((await openStream(service.base_url, undefined, { authorization: `Bearer ${key}` })).response.status).toBe(
      401,
    )
    const signUp = { token: 'x', username: 'new', email: 'new@example.org', password: PASSWORD }
    expect(await codeOf(service.client().invites.accept(signUp))).toBe('unauthenticated')
    const crossSite = { 'x-host-user': 'ada', 'sec-fetch-site': 'cross-site' }
    const response = await checkedFetch(`${service.base_url}/api/presence/heartbeat`, {
      method: 'POST',
      headers: crossSite,
    })
    expect((await readFailure(response)).code).toBe('csrf_failed')
  })

  it('refuses a subject that a database cannot store unchanged, and creates no user for it', async () => {
    const before = await users()
    const subjects = [
      '',
      'x'.repeat(256),
      'a\0b',
      'a\ud800',
      'a\udfff',
      5 as unknown as string,
      { a: 1 } as unknown as string,
    ]
    for (const subject of subjects) {
      people.set('odd', { subject })
      expect(await codeOf(as('odd').auth.me())).toBe('unauthenticated')
      await expect(service.chat.auth.authenticate(new Headers({ 'x-host-user': 'odd' }))).rejects.toThrow(
        'The login of the host gave no usable subject: text of 1 to 255 characters, without NUL and lone surrogates.',
      )
    }
    expect(await users()).toEqual(before)
    people.set('long', { subject: '\u{1F600}'.repeat(127) })
    expect((await as('long').auth.me()).user.roles).toEqual(['member'])
  })

  it('refuses an identity with an unknown field, which may be a misspelt one, and creates no user for it', async () => {
    const before = await users()
    people.set('misspelt', { subject: '77', role: ['admin'] } as Identity)
    expect(await codeOf(as('misspelt').auth.me())).toBe('unauthenticated')
    expect(await users()).toEqual(before)
    // An instance of a class may have members of its own.
    class Person {
      readonly subject = '77'
      readonly password_hash = 'x'
    }
    people.set('misspelt', new Person())
    expect((await as('misspelt').auth.me()).user.roles).toEqual(['member'])
  })
})
