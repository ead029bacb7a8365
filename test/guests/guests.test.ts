import { beforeAll, describe, expect, it } from 'vitest'
import { createAdminClient } from '../../lib/client/admin.ts'
import { SECOND } from '../../lib/core/units.ts'
import { eraseUnused } from '../../lib/guests/expiring.ts'
import { type ChatError, OPERATOR } from '../../lib/index.ts'
import { among, type Sql, sql } from '../../lib/storage/sql.ts'
import { png } from '../files/pictures/make.ts'

import { checkedFetch } from '../support/answers.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpNodes, setUpService, startNodes } from '../support/describe-service.ts'
import { codeOf, innerState, type Person, startService, type TestService } from '../support/service.ts'

const DAY = 24 * 3600 * SECOND
const ORIGIN = 'https://shop.example.org'

/** The clock of the services: it runs on from here. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: ChatError) => ({ code: error.code, reason: error.reason }),
  )

function post(service: TestService, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return checkedFetch(`${service.base_url}/api/guests`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

function as(service: TestService, token: string) {
  return createAdminClient({ base_url: service.base_url, api_key: token, fetch: checkedFetch, retry_ms: 10 })
}

/** The cookies of a response, as a browser sends them. */
function cookiesOf(response: Response): Record<string, string> {
  const pairs = response.headers.getSetCookie().map((line) => line.split(';')[0]!)
  const csrf = pairs.find((pair) => pair.startsWith('CSRF-TOKEN='))?.slice('CSRF-TOKEN='.length)
  return { cookie: pairs.join('; '), ...(csrf && { 'x-csrf-token': csrf }) }
}

describeOnEachDatabase('guests', (openUrl) => {
  const lines: string[] = []
  const note = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log = { debug: note, info: note, warn: note, error: note }
  const [service, node] = setUpNodes(async () =>
    startNodes(await openUrl(), {
      config: {
        access: { participant_roles: { cheering: { rights: ['react'] }, inviting: { rights: ['post', 'invite'] } } },
        guests: { enabled: true, contacts: ['ada', 'nobody', 'Grace'], per_ip_per_hour: 10_000, messages_per_min: 3 },
        server: { cors: { token_origins: [ORIGIN] } },
        log: { requests: 'all' },
      },
      ports: { now, log },
    }),
  )
  let ada: Person
  let grace: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
  })

  const newGuest = async (display_name = 'Visitor') => {
    const guest = await service.chat.guests.create({}, { display_name, token: true })
    if (!('token' in guest) || !('expires_at' in guest)) throw new Error('expected a token')
    return { ...guest, conversation_id: guest.conversation_id!, client: as(service, guest.token) }
  }

  it('a guest has a token, a generated name, and no address', async () => {
    const response = await post(service, { token: true })
    expect(response.status).toBe(201)
    expect(response.headers.getSetCookie()).toEqual([])
    const guest = (await response.json()) as { user: Record<string, unknown>; token: string; expires_at: string }
    expect(Object.keys(guest).sort()).toEqual(['conversation_id', 'expires_at', 'token', 'user'])
    expect(guest.user).toMatchObject({ kind: 'guest', roles: ['guest'], email_verified: false })
    expect(guest.user.username).toMatch(/^guest-[a-z0-9]{10}$/)
    expect(guest.user).not.toHaveProperty('email')
    expect(guest.token).toMatch(/^cg_[\w-]{43}$/)
    const { user, can } = await as(service, guest.token).auth.me()
    expect(user).toEqual(guest.user)
    expect(can).toEqual({ post: true, react: true })
    expect(lines.some((line) => line.includes(guest.token))).toBe(false)
  })

  it('without a token, the guest has the cookies of a session', async () => {
    const response = await post(service, { display_name: 'Eve' })
    expect(response.status).toBe(201)
    const body = (await response.json()) as Record<string, unknown>
    expect(Object.keys(body).sort()).toEqual(['conversation_id', 'csrf_token', 'session', 'user'])
    const headers = cookiesOf(response)
    const me = await fetch(`${service.base_url}/api/auth/me`, { headers })
    expect(await me.json()).toMatchObject({ user: { kind: 'guest', display_name: 'Eve' } })
    // A cookie comes along from any page: only the token of the page shows that it may write.
    const path = `${service.base_url}/api/threads/${body.conversation_id}/root`
    const write = (sent: Record<string, string>) =>
      fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...sent },
        body: JSON.stringify({ content: 'Hello' }),
      })
    expect((await write({ cookie: headers.cookie! })).status).toBe(403)
    expect((await write(headers)).status).toBe(201)
    expect((await fetch(`${service.base_url}/api/auth/logout`, { method: 'POST', headers })).status).toBe(204)
    expect((await fetch(`${service.base_url}/api/auth/me`, { headers })).status).toBe(401)
  })

  it('a page of another origin makes guests only with a token, and only where it may call with one', async () => {
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const shop = { origin: ORIGIN, 'sec-fetch-site': 'cross-site' }
    expect((await post(service, {}, foreign)).status).toBe(403)
    expect((await post(service, { token: true }, foreign)).status).toBe(403)
    expect((await post(service, {}, shop)).status).toBe(403)
    const made = await post(service, { token: true }, shop)
    expect(made.status).toBe(201)
    expect(made.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(made.headers.get('access-control-allow-credentials')).toBeNull()
    const preflight = await fetch(`${service.base_url}/api/guests`, {
      method: 'OPTIONS',
      headers: { ...shop, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    })
    expect(preflight.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(preflight.headers.get('access-control-allow-methods')).toBe('POST')
  })

  it('a guest gets a conversation with the contacts, who are told of it', async () => {
    const guest = await newGuest('Charles')
    const conversation = await guest.client.conversations.get(guest.conversation_id)
    expect(conversation).toMatchObject({ title: 'Charles', layout: 'stream', visibility: 'private' })
    const roles = conversation.participants.map(({ username, role }) => [username, role])
    expect(new Set(roles)).toEqual(
      new Set([
        ['ada', 'owner'],
        ['grace', 'admin'],
        [guest.user.username, 'member'],
      ]),
    )
    for (const contact of [ada, grace]) {
      const { notifications } = await contact.notifications.list({})
      expect(notifications[0]).toMatchObject({ kind: 'added', conversation_id: guest.conversation_id })
    }
    expect((await ada.users.search({ ids: guest.user.id })).users).toMatchObject([{ kind: 'guest' }])
  })

  it('a guest posts up to the limit of messages per minute, on all nodes together', async () => {
    const guest = await newGuest()
    const elsewhere = as(node, guest.token)
    const place = guest.conversation_id
    const posts = await Promise.all(
      [guest.client, elsewhere, guest.client, elsewhere, guest.client].map((client) =>
        client.messages.postRoot(place, { content: 'Hello' }).then(
          () => 'posted',
          ({ code }: ChatError) => code,
        ),
      ),
    )
    expect(posts.filter((code) => code === 'posted')).toHaveLength(3)
    expect(posts.filter((code) => code === 'rate_limited')).toHaveLength(2)
  })

  it('a guest finds no users, and none beyond its conversations exists for it', async () => {
    const eve = await service.signIn('eve')
    const { client } = await newGuest()
    expect(await codeOf(client.users.search({ query: 'eve' }))).toBe('forbidden')
    expect((await client.users.search({ ids: eve.id })).users).toEqual([])
    expect(await codeOf(client.conversations.direct({ user_id: eve.id }))).toBe('forbidden')
    expect(await codeOf(client.conversations.create({ title: 'Mine' }))).toBe('forbidden')
    expect(await codeOf(client.conversations.directory({}))).toBe('forbidden')
  })

  it('a guest changes no sign-in: it has none', async () => {
    const guest = await newGuest()
    const actor = await service.chat.users.actor(guest.user.id)
    const refused = { code: 'forbidden', reason: 'guest' }
    expect(await failureOf(service.chat.keys.create(actor, { name: 'k' }))).toEqual(refused)
    const change = { current_password: 'a password', new_password: 'another password' }
    expect(await failureOf(service.chat.auth.changePassword(actor, change))).toEqual(refused)
    expect(await failureOf(service.chat.auth.changeProfile(actor, { username: 'support' }))).toEqual(refused)
    expect(await failureOf(service.chat.conversations.create(actor, { title: 'Mine' }))).toEqual(refused)
    expect(await failureOf(service.chat.emails.sendVerification(actor))).toEqual(refused)
    expect(await failureOf(service.chat.auth.setAvatar(actor, png(2, 2)))).toEqual(refused)
    const { user } = await guest.client.auth.changeProfile({ display_name: 'Another' })
    expect(user.display_name).toBe('Another')
    const conflict = { code: 'conflict', reason: 'guest' }
    expect(await failureOf(service.chat.users.change(OPERATOR, guest.user.id, { roles: ['admin'] }))).toEqual(conflict)
    expect(await failureOf(service.chat.users.change(OPERATOR, guest.user.id, { password: 'a password' }))).toEqual(
      conflict,
    )
  })

  it('a guest is at most a member of a conversation, however it joins', async () => {
    const guest = await newGuest()
    const boss = await service.chat.users.actor(ada.id)
    const conflict = { code: 'conflict', reason: 'guest' }
    const { conversation_id } = await service.chat.conversations.create(boss, { title: 'Team' })
    const add = (role: string) => service.chat.participants.add(boss, conversation_id, { user_id: guest.user.id, role })
    for (const role of ['owner', 'admin', 'moderator']) expect(await failureOf(add(role))).toEqual(conflict)
    await add('member')
    const change = (role: string) =>
      service.chat.participants.changeRole(boss, conversation_id, guest.user.id, { role })
    expect(await failureOf(change('moderator'))).toEqual(conflict)
    await change('viewer')
    expect(await failureOf(change('inviting'))).toEqual(conflict)
    await change('cheering')
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    const { conversation_id: direct } = await service.chat.conversations.direct(boss, { user_id: guest.user.id })
    expect((await guest.client.conversations.get(direct)).participants.map(({ role }) => role)).toEqual([
      'owner',
      'owner',
    ])
  })

  it('the token ends with the idle time after its last use, and by signing out, on every node', async () => {
    const guest = await newGuest()
    const unused = await newGuest()
    ahead += 20 * DAY
    await guest.client.auth.me()
    ahead += 20 * DAY
    await as(node, guest.token).auth.me()
    expect(await codeOf(unused.client.auth.me())).toBe('session_expired')
    await guest.client.auth.logout()
    expect(await codeOf(as(node, guest.token).auth.me())).toBe('unauthenticated')
  })
})

describeOnEachDatabase('unused guests', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: { guests: { enabled: true, contacts: ['ada'], per_ip_per_hour: 1000, idle_days: 2 } },
      ports: { now },
    }),
  )

  it('guests are erased after the idle time, their texts stay, and those of a host stay too', async () => {
    const ada = await service.signIn('ada')
    const boss = await service.chat.users.actor(ada.id)
    const admit = async () => {
      const guest = await service.chat.guests.create({}, { token: true })
      if (!('expires_at' in guest)) throw new Error('expected a token')
      return { ...guest, conversation_id: guest.conversation_id! }
    }
    const [unused, used] = [await admit(), await admit()]
    const { user: hosted } = await service.chat.users.ensure(OPERATOR, { subject: '42', roles: ['guest'] })
    expect(hosted.kind).toBe('guest')
    const text = { content: 'Hello' }
    const { message_id } = await as(service, unused.token).messages.postRoot(unused.conversation_id, text)
    ahead += DAY
    await as(service, used.token).auth.me()
    ahead += 1.5 * DAY
    await eraseUnused(innerState(service.chat))
    expect(await codeOf(service.chat.users.actor(unused.user.id))).toBe('not_found')
    expect((await service.chat.users.actor(used.user.id)).roles).toEqual(['guest'])
    expect((await service.chat.users.actor(hosted.id)).roles).toEqual(['guest'])
    const message = await service.chat.messages.get(boss, message_id)
    expect(message.content).toBe('Hello')
    expect(message).not.toHaveProperty('author_user_id')
  })

  it('a guest who returns while others are erased stays', async () => {
    const { chat } = service
    const admit = async () => (await chat.guests.create({}, { token: true })) as { user: { id: string }; token: string }
    const [gone, ...back] = [await admit(), await admit(), await admit()]
    ahead += 3 * DAY
    const ctx = innerState(chat)
    let listed: unknown[] | undefined
    // They return once those that are unused have been read.
    const all: typeof ctx.db.all = async <T>(query: Sql) => {
      const rows = await ctx.db.all<T>(query)
      if (!listed) {
        listed = rows
        await chat.users.actor(back[0]!.user.id)
        await touchSession(back[1]!.user.id)
      }
      return rows
    }
    const touchSession = (id: string) =>
      ctx.db.run(sql`UPDATE sessions SET last_seen_at = ${now()} WHERE user_id = ${id}`)
    await eraseUnused({ ...ctx, db: { ...ctx.db, all } })
    expect(listed).toEqual(expect.arrayContaining([gone, ...back].map((guest) => ({ id: guest!.user.id }))))
    const left = await ctx.db.all<{ id: string }>(
      sql`SELECT id FROM users WHERE disabled_at IS NULL AND id ${among(
        ctx.db,
        [gone, ...back].map((guest) => guest!.user.id),
      )}`,
    )
    expect(new Set(left.map(({ id }) => id))).toEqual(new Set(back.map(({ user }) => user.id)))
  })

  it('guests stay after any use, and its trace is written once an hour', async () => {
    const { chat } = service
    const { db } = innerState(chat)
    const used = async (id: string) =>
      (await db.get<{ used_at: number | null }>(sql`SELECT used_at FROM users WHERE id = ${id}`))!.used_at
    const { key } = await chat.serverKeys.create(OPERATOR, { name: 'shop', scopes: ['act_as'] })
    const acting = (id: string) =>
      fetch(`${service.base_url}/api/auth/me`, {
        headers: { authorization: `Bearer ${key}`, 'chat-act-as': `user:${id}` },
      })
    const uses: Record<string, (guest: { id: string; token: string }) => Promise<unknown>> = {
      'a session that ends': async ({ token }) => {
        await as(service, token).auth.me()
        await as(service, token).auth.logout()
      },
      'a server key': ({ id }) => acting(id),
      'a signed token': async ({ id }) => {
        const { token } = await chat.tokens.issue(OPERATOR, { user_id: id, ttl_seconds: 3600 })
        await as(service, token).auth.me()
      },
      'the host in process': ({ id }) => chat.users.actor(id),
    }
    const guests = new Map<string, { id: string; token: string }>()
    for (const use of [...Object.keys(uses), 'nothing']) {
      const guest = await chat.guests.create({}, { token: true })
      if (!('expires_at' in guest)) throw new Error('expected a token')
      guests.set(use, { id: guest.user.id, token: guest.token })
    }
    ahead += DAY
    for (const [name, use] of Object.entries(uses)) {
      await use(guests.get(name)!)
      expect(await used(guests.get(name)!.id), name).toBeGreaterThan(now() - 3600 * SECOND)
    }
    // Within the hour nothing is written.
    const { id } = guests.get('a server key')!
    const first = await used(id)
    ahead += 1800 * SECOND
    expect((await acting(id)).status).toBe(200)
    expect(await used(id)).toBe(first)
    ahead += 1800 * SECOND
    await acting(id)
    expect(await used(id)).toBeGreaterThan(first!)
    ahead += 1.5 * DAY
    await eraseUnused(innerState(chat))
    const kept = await Promise.all(
      [...guests].map(async ([name, { id }]) => [
        name,
        (await chat.users.get(OPERATOR, id).catch(() => undefined)) !== undefined,
      ]),
    )
    expect(Object.fromEntries(kept)).toEqual({
      'a session that ends': true,
      'a server key': true,
      'a signed token': true,
      'the host in process': true,
      nothing: false,
    })
    ahead += 2 * DAY
    await eraseUnused(innerState(chat))
    expect(
      await db.all(
        sql`SELECT id FROM users WHERE kind = 'guest' AND id ${among(
          db,
          [...guests.values()].map(({ id }) => id),
        )}`,
      ),
    ).toEqual([])
  })
})

describe('bounds of guests', () => {
  describeOnEachDatabase('with few of them', (openUrl) => {
    const service = setUpService(async () =>
      startService(await openUrl(), {
        config: { guests: { enabled: true, max: 3, per_ip_per_hour: 4 } },
        ports: { now },
      }),
    )

    it('no guest counts as the first user, and more than the maximum are refused', async () => {
      expect(await service.chat.guests.create({ ip: '192.0.2.1' }, {})).not.toHaveProperty('conversation_id')
      expect(await service.chat.setup.get()).toEqual({ is_setup: false })
      for (let n = 0; n < 2; n++) await service.chat.guests.create({ ip: '192.0.2.2' }, {})
      expect(await codeOf(service.chat.guests.create({ ip: '192.0.2.3' }, {}))).toBe('rate_limited')
    })

    it('an address makes only so many in an hour, also by calls that are refused', async () => {
      const refused = await Promise.all(
        Array.from({ length: 6 }, () => codeOf(service.chat.guests.create({ ip: '192.0.2.9' }, {}))),
      )
      expect(new Set(refused)).toEqual(new Set(['rate_limited']))
      expect((await service.client().capabilities.get()).access.guests).toBe(true)
    })
  })

  describeOnEachDatabase('that come at once, on two nodes', (openUrl) => {
    const nodes = setUpNodes(async () =>
      startNodes(await openUrl(), { config: { guests: { enabled: true, max: 2 } }, ports: { now } }),
    )

    it('are no more than the maximum', async () => {
      const made = await Promise.allSettled(
        Array.from({ length: 8 }, (_, n) => nodes[n % 2]!.chat.guests.create({ ip: `192.0.2.${n}` }, { token: true })),
      )
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    })
  })

  describeOnEachDatabase('without them', (openUrl) => {
    const service = setUpService(async () => startService(await openUrl()))
    it('there are none unless they are enabled', async () => {
      expect((await post(service, {})).status).toBe(404)
      expect((await service.client().capabilities.get()).access.guests).toBe(false)
    })
  })
})
