import { SignJWT } from 'jose'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { DAY, SECOND } from '../../../lib/core/units.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, startService } from '../../support/service.ts'
import { openStream } from '../../support/stream.ts'

const SECRET = 'a secret of at least thirty-two bytes'
const JWT = { issuer: 'https://shop.example.org', audience: 'chat', secret: SECRET }

/** The clock of the services: it runs on from here. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead
const seconds = () => Math.floor(now() / SECOND)

function sign(sub: string, claims: object = {}): Promise<string> {
  const all = {
    iss: JWT.issuer,
    aud: JWT.audience,
    sub,
    iat: seconds(),
    exp: seconds() + 3600,
    name: 'Ada L.',
    ...claims,
  }
  return new SignJWT(all).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(SECRET))
}

describeOnEachDatabase('signed tokens of a user who exists no longer', (openUrl) => {
  const [service, node] = setUpNodes(async () =>
    startNodes(await openUrl(), { config: { auth: { jwt: JWT }, guests: { enabled: true } }, ports: { now } }),
  )
  let grace: Person
  beforeAll(async () => {
    grace = await service.signIn('grace')
  })
  const as = (token: string, { base_url } = service) =>
    createAdminClient({ base_url, api_key: token, fetch: checkedFetch, retry_ms: 10 })
  const db = () => innerState(service.chat).db
  const users = async () => (await db().get<{ count: number }>(sql`SELECT count(*) AS count FROM users`))!.count

  const ends: [string, (userId: string, subject: string, token: string) => Promise<unknown>, object?][] = [
    ['is erased by id', (user_id) => service.chat.users.erase(OPERATOR, user_id, { messages: 'keep' })],
    ['is erased by subject', (_, subject) => service.chat.users.erase(OPERATOR, { subject }, { messages: 'erase' })],
    ['is merged', (user_id) => service.chat.users.merge(OPERATOR, { from: { user_id }, into: { user_id: grace.id } })],
    ['is claimed as a guest', (_, __, token) => grace.guests.claim({ token }), { chat_roles: ['guest'] }],
    [
      'is merged into a user who is erased',
      async (user_id) => {
        const { user } = await service.chat.users.ensure(OPERATOR, { subject: `target of ${user_id}` })
        await service.chat.users.merge(OPERATOR, { from: { user_id }, into: { user_id: user.id } })
        await service.chat.users.erase(OPERATOR, user.id, { messages: 'keep' })
      },
    ],
  ]
  it.each(ends)('make no other one when the user %s, on every node', async (title, end, claims) => {
    const token = await sign(title, claims)
    const { user } = await as(token).auth.me()
    const stream = await openStream(node.base_url, undefined, { authorization: `Bearer ${token}` })
    await stream.until('stream.ready')
    await end(user.id, title, token)
    const before = await users()
    await stream.until('stream.closed')
    for (const of of [service, node, service]) expect(await codeOf(as(token, of).auth.me())).toBe('unauthenticated')
    expect(await users()).toBe(before)
    ahead += 2 * SECOND
    const { user: newcomer } = await as(await sign(title), node).auth.me()
    expect(newcomer.id).not.toBe(user.id)
    // The tokens of the former user are not those of the new one.
    for (const of of [service, node]) expect(await codeOf(as(token, of).auth.me())).toBe('unauthenticated')
    const { rows } = await stored()
    expect(rows).not.toContain(title)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('make no other one while the user is erased', async () => {
    const token = await sign('racing')
    await as(token).auth.me()
    const before = await users()
    const calls = Array.from({ length: 12 }, (_, n) =>
      as(token, n % 2 ? node : service)
        .auth.me()
        .catch(({ code }) => expect(code).toBe('unauthenticated')),
    )
    await Promise.all([service.chat.users.erase(OPERATOR, { subject: 'racing' }, { messages: 'keep' }), ...calls])
    expect(await users()).toBe(before - 1)
    expect(await codeOf(as(token, node).auth.me())).toBe('unauthenticated')
  })

  it('are refused for a user whom the host names again, too', async () => {
    const token = await sign('again')
    const { user } = await as(token).auth.me()
    await service.chat.users.erase(OPERATOR, user.id, { messages: 'keep' })
    const { user: newcomer } = await service.chat.users.ensure(OPERATOR, { subject: 'again' })
    expect(await codeOf(as(token).auth.me())).toBe('unauthenticated')
    ahead += 2 * SECOND
    expect((await as(await sign('again')).auth.me()).user.id).toBe(newcomer.id)
  })

  it('are forgotten when none of them is valid any longer', async () => {
    await service.idle()
    const { count } = await stored()
    expect(await service.chat.ops.prune()).toMatchObject({ token_floors: 0 })
    ahead += DAY + 31 * SECOND
    expect(await service.chat.ops.prune()).toMatchObject({ token_floors: count })
  })

  const stored = async () => {
    const rows = await db().all<{ subject_hash: string }>(sql`SELECT subject_hash, tokens_after FROM token_floors`)
    return { rows: JSON.stringify(rows), count: rows.length }
  }
})

describe('a login of a host whose user was erased', () => {
  it('makes no other user of a proof from before, and a new one of a proof that has no instant', async () => {
    let issued_at: number | undefined = seconds()
    const identity = () => ({ subject: 'ada', ...(issued_at !== undefined && { issued_at }) })
    const service = await startService('sqlite::memory:', { ports: { now, identity } })
    onTestFinished(() => service.close())
    const me = () => service.client().auth.me()
    const { user } = await me()
    await service.chat.users.erase(OPERATOR, { subject: 'ada' }, { messages: 'keep' })
    expect(await codeOf(me())).toBe('unauthenticated')
    ahead += 300 * DAY
    expect(await service.chat.ops.prune()).toMatchObject({ token_floors: 0 })
    expect(await codeOf(me())).toBe('unauthenticated')
    issued_at = undefined
    expect((await me()).user.id).not.toBe(user.id)
  })
})
