import { SignJWT } from 'jose'
import { beforeAll, expect, it } from 'vitest'
import { createAdminClient } from '../../lib/client/admin.ts'
import { SECOND } from '../../lib/core/units.ts'
import { type ChatError, OPERATOR } from '../../lib/index.ts'
import { checkedFetch } from '../support/answers.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpNodes, startNodes } from '../support/describe-service.ts'
import { codeOf, PASSWORD, type Person } from '../support/service.ts'

const DAY = 24 * 3600 * SECOND
const SECRET = 'a secret of at least thirty-two bytes'
const JWT = { issuer: 'https://shop.example.org', audience: 'chat', secret: SECRET }

/** The clock of the services: it runs on from here. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

function sign(sub: string, roles: string[]): Promise<string> {
  const iat = Math.floor(now() / SECOND)
  const claims = { iss: JWT.issuer, aud: JWT.audience, sub, iat, exp: iat + 3600, chat_roles: roles }
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(SECRET))
}

describeOnEachDatabase('claims of guests', (openUrl) => {
  const [service, node] = setUpNodes(async () =>
    startNodes(await openUrl(), {
      config: {
        guests: { enabled: true, contacts: ['ada'], per_ip_per_hour: 10_000, messages_per_min: 1000 },
        auth: { jwt: JWT },
      },
      ports: { now },
    }),
  )
  const as = (token: string, { base_url } = service) =>
    createAdminClient({ base_url, api_key: token, fetch: checkedFetch, retry_ms: 10 })
  let ada: Person
  let eve: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
    eve = await service.signIn('eve')
  })

  const newGuest = async () => {
    const guest = await service.chat.guests.create({}, { display_name: 'Visitor', token: true })
    if (!('expires_at' in guest)) throw new Error('expected a token')
    return { ...guest, conversation_id: guest.conversation_id!, client: as(guest.token) }
  }

  it('a person gets what the guest has, and the token of the guest ends', async () => {
    const grace = await service.signIn('grace')
    const guest = await newGuest()
    const { message_id } = await guest.client.messages.postRoot(guest.conversation_id, { content: 'Hello' })
    const claimed = await grace.guests.claim({ token: guest.token })
    expect(claimed).toMatchObject({ user: { id: grace.id }, moved: { messages: 1, conversations: 1 } })
    expect(await grace.messages.get(message_id)).toMatchObject({ author_user_id: grace.id })
    expect(await codeOf(as(guest.token, node).auth.me())).toBe('unauthenticated')
    expect(await grace.guests.claim({ token: guest.token })).toEqual(claimed)
    expect(await codeOf(eve.guests.claim({ token: guest.token }))).toBe('not_found')
    ahead += DAY + SECOND
    const actor = await service.chat.users.actor(grace.id)
    expect(await codeOf(service.chat.guests.claim(actor, { token: guest.token }))).toBe('not_found')
  })

  it('no one claims by other tokens, as a guest, or with a key', async () => {
    const henry = await service.chat.users.create(OPERATOR, { username: 'henry', email: 'henry@example.org' })
    const actor = await service.chat.users.actor(henry.user.id)
    const [one, other] = [await newGuest(), await newGuest()]
    const claim = (token: string, by = actor) => codeOf(service.chat.guests.claim(by, { token }))
    expect(await claim('made-up')).toBe('not_found')
    expect(await claim(`${one.token}x`)).toBe('not_found')
    expect(await claim('two lines\nof text')).toBe('validation_failed')
    expect(await claim('x'.repeat(9000))).toBe('validation_failed')
    expect(await claim(one.token, { ...actor, key_id: 'a key' })).toBe('forbidden')
    expect(await codeOf(one.client.guests.claim({ token: one.token }))).toBe('conflict')
    expect(await codeOf(one.client.guests.claim({ token: other.token }))).toBe('conflict')
    ahead += 31 * DAY
    expect(await claim(one.token)).toBe('not_found')
  })

  it('several claims at once, on both nodes, have one answer, and a post at that time is moved or refused', async () => {
    const { user } = await service.chat.users.create(OPERATOR, { username: 'iris', email: 'iris@example.org' })
    const actor = await service.chat.users.actor(user.id)
    const guest = await newGuest()
    const posts = Array.from({ length: 6 }, (_, n) =>
      as(guest.token, n % 2 === 0 ? service : node)
        .messages.postRoot(guest.conversation_id, { content: `Post ${n}` })
        .then(
          ({ message_id }) => message_id,
          ({ code }: ChatError) => {
            expect(code).toBe('unauthenticated')
            return undefined
          },
        ),
    )
    const claims = await Promise.all(
      [service, node, service].map(({ chat }) => chat.guests.claim(actor, { token: guest.token })),
    )
    expect(new Set(claims.map((claim) => JSON.stringify(claim))).size).toBe(1)
    const posted = (await Promise.all(posts)).filter((id) => id !== undefined)
    expect(claims[0]!.moved.messages).toBe(posted.length)
    for (const id of posted)
      expect(await service.chat.messages.get(actor, id)).toMatchObject({ author_user_id: user.id })
  })

  it('a guest of the host becomes a person, and one that is claimed by a token of the host', async () => {
    const token = await sign('42', ['guest'])
    const { user } = await as(token).auth.me()
    expect(user).toMatchObject({ kind: 'guest', roles: ['guest'] })
    const later = await as(await sign('42', ['member'])).auth.me()
    expect(later.user).toMatchObject({ id: user.id, roles: ['member'] })
    expect(later.user).not.toHaveProperty('kind')
    const other = await service.chat.users.actor(eve.id)
    expect(await codeOf(service.chat.guests.claim(other, { token }))).toBe('conflict')
    // A person who gets that role keeps what guests cannot have.
    const again = (await as(await sign('42', ['guest'])).auth.me()).user
    expect(again).not.toHaveProperty('kind')
    expect(again.roles).toEqual(['member'])
    // Nor does an administrator make a guest of one.
    expect(await codeOf(service.chat.users.change(OPERATOR, eve.id, { roles: ['guest'] }))).toBe('validation_failed')
    const visitorOf = { username: 'ned', email: 'ned@example.org', roles: ['guest'] as 'guest'[] }
    expect(await codeOf(service.chat.users.create(OPERATOR, visitorOf))).toBe('validation_failed')

    const visitor = await sign('43', ['guest'])
    const { user: guest } = await as(visitor).auth.me()
    const { user: person } = await service.chat.users.create(OPERATOR, { username: 'kay', email: 'kay@example.org' })
    const actor = await service.chat.users.actor(person.id)
    expect(await codeOf(service.chat.guests.claim(actor, { token: await sign('nobody', ['guest']) }))).toBe('not_found')
    const claimed = await service.chat.guests.claim(actor, { token: visitor })
    expect(claimed).toMatchObject({ user: { id: person.id }, moved: { messages: 0, conversations: 0 } })
    expect(await service.chat.guests.claim(actor, { token: visitor })).toEqual(claimed)
    expect(await codeOf(service.chat.users.actor(guest.id))).toBe('not_found')
  })

  it('a guest is claimed by a signed token of it that may write, and no person by the token of its session', async () => {
    const { user } = await service.chat.users.create(OPERATOR, { username: 'max', email: 'max@example.org' })
    const actor = await service.chat.users.actor(user.id)
    const claim = (token: string) => service.chat.guests.claim(actor, { token })
    const signed = async (user_id: string, scopes?: ('read' | 'write' | 'stream')[]) =>
      (await service.chat.tokens.issue(OPERATOR, { user_id, ...(scopes && { scopes }) })).token
    const guest = await newGuest()
    const reading = await signed(guest.user.id, ['read'])
    expect(await codeOf(claim(reading))).toBe('not_found')
    const token = await signed(guest.user.id)
    const claimed = await claim(token)
    expect(claimed.user.id).toBe(user.id)
    expect(await claim(token)).toEqual(claimed)
    expect(await codeOf(claim(await signed(eve.id)))).toBe('conflict')
    const session = await service.chat.auth.login({}, { email: eve.email, password: PASSWORD })
    expect(await codeOf(claim((session as typeof session & { token: string }).token))).toBe('conflict')
  })

  it('a sign-in with claim merges the guest of the cookie, and one without ends its session', async () => {
    const guestOf = async () => {
      const guest = await service.chat.guests.create({}, {})
      if (!('session' in guest)) throw new Error('expected a session')
      const { token } = guest as typeof guest & { token: string }
      await as(token).messages.postRoot(guest.conversation_id!, { content: 'Hello' })
      return { ...guest, token }
    }
    const credentials = { email: ada.email, password: PASSWORD }
    const claimed = await guestOf()
    const { user } = await service.chat.auth.login({ token: claimed.token }, { ...credentials, claim: true })
    expect(user.id).toBe(ada.id)
    expect(await codeOf(service.chat.users.actor(claimed.user.id))).toBe('not_found')

    const left = await guestOf()
    await service.chat.auth.login({ token: left.token }, credentials)
    expect(await codeOf(as(left.token).auth.me())).toBe('unauthenticated')
    expect((await service.chat.users.actor(left.user.id)).roles).toEqual(['guest'])

    const newcomer = await guestOf()
    const { token } = await service.chat.newcomers.invite(OPERATOR, { email: 'lea@example.org', mail: false })
    const signUp = { token: token!, username: 'lea', password: PASSWORD, claim: true as const }
    const lea = await service.chat.newcomers.signUp({ token: newcomer.token }, signUp)
    const actor = await service.chat.users.actor(lea.user.id)
    expect((await service.chat.conversations.list(actor, {})).conversations.map(({ id }) => id)).toEqual([
      newcomer.conversation_id,
    ])
    expect(await codeOf(service.chat.users.actor(newcomer.user.id))).toBe('not_found')
  })
})
