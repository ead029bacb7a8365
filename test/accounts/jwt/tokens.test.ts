import { SignJWT } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { jwtIdentity, OPERATOR } from '../../../lib/index.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, startService } from '../../support/service.ts'
import { openStream } from '../../support/stream.ts'

const SECRET = 'a secret of at least thirty-two bytes'
const ISSUER = 'https://shop.example.org'
const JWT = { issuer: ISSUER, audience: 'chat', secret: SECRET }

/** The clock of the services: it runs on from here. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead
const seconds = () => Math.floor(now() / SECOND)

/** Signs as a host does. @param claims in place of good ones; `undefined` leaves one out */
function sign(claims: Record<string, unknown> = {}, secret = SECRET, alg = 'HS256'): Promise<string> {
  const all = { iss: ISSUER, aud: 'chat', sub: 'ada', iat: seconds(), exp: seconds() + 600, ...claims }
  return new SignJWT(all).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret))
}

/** The parts of a token, unsigned: what a thief can make. */
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

describeOnEachDatabase('signed tokens', (openUrl) => {
  const lines: { message: string; fields: object | undefined }[] = []
  const note = (message: string, fields?: object) => void lines.push({ message, fields })
  const log = { debug: note, info: note, warn: note, error: note }
  const [service, node] = setUpNodes(async () =>
    startNodes(await openUrl(), { config: { auth: { jwt: JWT } }, ports: { now, log } }),
  )

  const as = (token: string, { base_url } = service) =>
    createAdminClient({ base_url, api_key: token, fetch: checkedFetch, retry_ms: 10 })
  const me = async (claims?: Record<string, unknown>, of = service) => (await as(await sign(claims), of).auth.me()).user

  it('make a user of a subject, the same at every call, whose names follow', async () => {
    const names = { preferred_username: 'ada', name: 'Ada', picture: 'https://photos.example.org/ada.png' }
    const ada = await me({ ...names, email: 'ada@example.org', email_verified: true })
    const shown = { username: 'ada', display_name: 'Ada', email: 'ada@example.org', roles: ['member'] }
    expect(ada).toMatchObject({ ...shown, avatar_url: names.picture, email_verified: true })
    expect(await me({ name: 'Ada L.', iat: seconds() + 1 }, node)).toMatchObject({ id: ada.id, display_name: 'Ada L.' })
    expect((await service.chat.users.actorOf('ada')).user_id).toBe(ada.id)
  })

  it('take no address that is not verified, and nobody is an administrator by one', async () => {
    const eve = await me({ sub: 'eve', email: 'ada@example.org', chat_roles: ['admin', 'read_only', 'pirate'] })
    expect(eve).toMatchObject({ email_verified: false, roles: ['read_only'] })
    expect(eve.email).not.toBe('ada@example.org')
  })

  it('need no CSRF token, and count in place of a cookie', async () => {
    const other = await service.signIn('other')
    const { conversation_id } = await as(await sign({ sub: 'poster' })).conversations.create({ title: 'Orders' })
    const url = `${service.base_url}/api/conversations/${conversation_id}`
    const login = await fetch(`${service.base_url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: other.email, password: 'correct horse battery' }),
    })
    const cookie = login.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
    const headers = { cookie, authorization: `Bearer ${await sign({ sub: 'poster' })}` }
    expect((await fetch(url, { headers })).status).toBe(200)
    expect((await fetch(url, { headers: { cookie } })).status).toBe(404)
    const refused = await fetch(url, { headers: { cookie, authorization: `Bearer ${await sign({ iss: 'x' })}` } })
    expect(refused.status).toBe(401)
  })

  it('are refused that were not signed with the secret, or say something else', async () => {
    const claims = { iss: ISSUER, aud: 'chat', sub: 'ada', iat: seconds(), exp: seconds() + 600 }
    const bad = [
      'not a token',
      'a.b.c',
      `${part({ alg: 'none' })}.${part(claims)}.`,
      `${part({ alg: 'HS256' })}.${part(claims)}.`,
      await sign({}, 'another secret of thirty-two bytes!'),
      await sign({ iss: 'https://shop.example.com' }),
      await sign({ aud: 'shop' }),
      await sign({ sub: '' }),
      await sign({ sub: 7 }),
      await sign({ sub: 'x'.repeat(256) }),
      await sign({ exp: seconds() + 86_401 }),
      await sign({ iat: seconds() + 90, exp: seconds() + 600 }),
      await sign({ nbf: seconds() + 90 }),
      await sign({ padding: 'x'.repeat(9 * 1024) }),
      ...(await Promise.all(['iss', 'aud', 'sub', 'iat', 'exp'].map((name) => sign({ [name]: undefined })))),
      ...[String(seconds() + 600), null, []].map((exp) => `${part({ alg: 'HS256' })}.${part({ ...claims, exp })}.x`),
    ]
    for (const token of bad) expect([token, await codeOf(as(token).auth.me())]).toEqual([token, 'unauthenticated'])
    expect(await codeOf(as(await sign({ iat: seconds() - 700, exp: seconds() - 31 })).auth.me())).toBe(
      'session_expired',
    )
    // Within the leeway.
    await me({ iat: seconds() - 700, exp: seconds() - 5 })
    expect(lines.filter(({ message }) => message === 'A signed token was refused').length).toBeGreaterThan(10)
    expect(JSON.stringify(lines)).not.toMatch(/eyJ|thirty-two/)
  })

  it('of an older instant replace no newer names', async () => {
    const at = seconds()
    await me({ sub: 'twin', name: 'New', iat: at })
    expect((await me({ sub: 'twin', name: 'Old', iat: at - 100 })).display_name).toBe('New')
    expect((await me({ sub: 'twin', name: 'Old', iat: at - 100 }, node)).display_name).toBe('New')
    expect((await me({ sub: 'twin', name: 'Newer', iat: at + 1 })).display_name).toBe('Newer')
    // The same names keep an older token from changing them, too.
    await me({ sub: 'twin', name: 'Newer', iat: at + 25, exp: at + 300 })
    expect((await me({ sub: 'twin', name: 'Old', iat: at, exp: at + 300 })).display_name).toBe('Newer')
    // Also one of an instant between those of two tokens with the same names.
    expect((await me({ sub: 'twin', name: 'Old', iat: at + 24, exp: at + 300 })).display_name).toBe('Newer')
    expect((await me({ sub: 'twin', name: 'Old', iat: at + 24, exp: at + 300 }, node)).display_name).toBe('Newer')
  })

  it('make one user where several arrive at once', async () => {
    const tokens = await Promise.all(Array.from({ length: 8 }, (_, n) => sign({ sub: 'many', iat: seconds() - n })))
    const users = await Promise.all(tokens.map(async (token, n) => as(token, n % 2 ? node : service).auth.me()))
    expect(new Set(users.map(({ user }) => user.id)).size).toBe(1)
  })

  const ends: [string, (userId: string, subject: string) => Promise<unknown>][] = [
    ['the host has ended the login', (_, subject) => service.chat.sessions.endForSubject(subject)],
    ['an administrator ends all sessions', (user_id) => service.chat.sessions.revoke(OPERATOR, { user_id })],
    [
      'an administrator disables the user for a while',
      async (user_id) => {
        await service.chat.users.change(OPERATOR, user_id, { disabled: true })
        await service.chat.users.change(OPERATOR, user_id, { disabled: false })
      },
    ],
  ]
  it.each(ends)('from before are refused on every node when %s, also of the same second', async (title, end) => {
    const sub = title
    const iat = seconds()
    const token = await sign({ sub, iat })
    const { user } = await as(token).auth.me()
    await as(token, node).auth.me()
    const stream = await openStream(node.base_url, undefined, { authorization: `Bearer ${token}` })
    await stream.until('stream.ready')
    await end(user.id, sub)
    for (const of of [service, node]) expect(await codeOf(as(token, of).auth.me())).toBe('unauthenticated')
    expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    expect(await codeOf(me({ sub, iat, name: 'Of before' }))).toBe('unauthenticated')
    ahead += 2 * SECOND
    expect(await me({ sub }, node)).toMatchObject({ id: user.id })
    expect((await service.chat.users.get(OPERATOR, user.id)).user.display_name).not.toBe('Of before')
  })

  it('end their streams when they expire, and a new one goes on', async () => {
    const { conversation_id } = await as(await sign({ sub: 'late' })).conversations.create({})
    const authorization = `Bearer ${await sign({ sub: 'late', exp: seconds() + 60 })}`
    const stream = await openStream(service.base_url, conversation_id, { authorization })
    await stream.until('stream.ready')
    ahead += 100 * SECOND
    const closed = await stream.until('stream.closed')
    expect(closed.at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    const again = await openStream(service.base_url, conversation_id, {
      authorization: `Bearer ${await sign({ sub: 'late' })}`,
    })
    await again.until('stream.ready')
    await again.close()
  })

  it('stay beside API keys, cookies and the sign-in', async () => {
    const person = await service.signIn('keeper')
    const { key } = await person.keys.create({ name: 'program' })
    expect((await as(key).auth.me()).user.id).toBe(person.id)
    expect((await person.auth.me()).user.id).toBe(person.id)
    expect(await codeOf(as('cs_unknown').auth.me())).toBe('unauthenticated')
  })
})

describe('a service with signed tokens', () => {
  async function start(config: object, ports = {}) {
    const service = await startService('sqlite::memory:', { config, ports: { now, ...ports } })
    onTestFinished(() => service.close())
    return service
  }

  it('makes administrators where auth.jwt.admin says so', async () => {
    const { base_url } = await start({ auth: { jwt: { ...JWT, admin: true } } })
    const api_key = await sign({ chat_roles: 'admin' })
    const admin = createAdminClient({ base_url, api_key, fetch: checkedFetch })
    expect((await admin.auth.me()).user.roles).toEqual(['admin'])
    expect((await admin.users.list({})).users).toHaveLength(1)
  })

  it('reads the claims that are configured', async () => {
    const claims = { subject: 'uid', username: 'login', display_name: 'full_name' }
    const { base_url } = await start({ auth: { jwt: { ...JWT, ...claims } } })
    const api_key = await sign({ sub: undefined, uid: '7', login: 'grace', full_name: 'Grace' })
    const { user } = await createAdminClient({ base_url, api_key, fetch: checkedFetch }).auth.me()
    expect(user).toMatchObject({ username: 'grace', display_name: 'Grace' })
  })

  it('has no sign-in where auth.sign_in is false', async () => {
    const service = await start({ auth: { jwt: JWT, sign_in: false } })
    const client = service.client()
    expect(await client.capabilities.get()).toMatchObject({ sign_in: false, sign_up: false, providers: [] })
    const login = { email: 'ada@example.org', password: 'correct horse battery' }
    for (const call of [
      () => client.setup.get(),
      () => client.auth.login(login),
      () => client.resets.request({ email: login.email }),
      () => client.invites.accept({ ...login, token: 'x', username: 'ada' }),
    ])
      expect(await codeOf(call())).toBe('not_found')
    const person = createAdminClient({ base_url: service.base_url, api_key: await sign(), fetch: checkedFetch })
    const { key } = await person.keys.create({ name: 'program' })
    await createAdminClient({ base_url: service.base_url, api_key: key, fetch: checkedFetch }).auth.me()
  })

  it('takes them by a login of the host, too', async () => {
    const { base_url } = await start({}, { identity: jwtIdentity(JWT) })
    // The port has the clock of the machine.
    const at = Math.floor(Date.now() / 1000)
    const api_key = await sign({ preferred_username: 'ada', iat: at, exp: at + 600 })
    const { user } = await createAdminClient({ base_url, api_key, fetch: checkedFetch }).auth.me()
    expect(user.username).toBe('ada')
    const expired = await sign({ iat: at - 700, exp: at - 40 })
    expect(await codeOf(createAdminClient({ base_url, api_key: expired, fetch: checkedFetch }).auth.me())).toBe(
      'session_expired',
    )
    expect(await codeOf(createAdminClient({ base_url, fetch: checkedFetch }).auth.me())).toBe('unauthenticated')
  })

  it('is not started with a login of the host', async () => {
    await expect(start({ auth: { jwt: JWT } }, { identity: () => null })).rejects.toThrow(
      'auth.jwt: and ports.identity exclude each other',
    )
  })
})
