import { SignJWT } from 'jose'
import { beforeAll, expect, it } from 'vitest'
import { createAdminClient } from '../../lib/client/admin.ts'
import { checkedFetch } from '../support/answers.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpNodes, startNodes } from '../support/describe-service.ts'
import { PASSWORD, type Person } from '../support/service.ts'
import { openStream, signInByHand } from '../support/stream.ts'

const SECRET = 'a secret of at least thirty-two bytes'
const JWT = { issuer: 'https://shop.example.org', audience: 'chat', secret: SECRET }

function sign(sub: string, roles: string[]): Promise<string> {
  const iat = Math.floor(Date.now() / 1000)
  const claims = { iss: JWT.issuer, aud: JWT.audience, sub, iat, exp: iat + 3600, chat_roles: roles }
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(SECRET))
}

describeOnEachDatabase('users are shown as guests', (openUrl) => {
  const [service] = setUpNodes(async () =>
    startNodes(await openUrl(), {
      config: {
        guests: { enabled: true, contacts: ['ada'], per_ip_per_hour: 10_000, messages_per_min: 1000 },
        auth: { jwt: JWT },
      },
    }),
  )
  const as = (token: string) =>
    createAdminClient({ base_url: service.base_url, api_key: token, fetch: checkedFetch, retry_ms: 10 })
  let ada: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
  })

  const newGuest = async () => {
    const guest = await service.chat.guests.create({}, { display_name: 'Visitor', token: true })
    if (!('expires_at' in guest)) throw new Error('expected a token')
    return { ...guest, conversation_id: guest.conversation_id!, client: as(guest.token) }
  }

  /** The kinds that reads of a conversation with a root of a guest, and a reply of ada to it, return. */
  async function kindsIn(conversation_id: string, { root_id, word }: { root_id: string; word: string }) {
    const { messages: timeline } = await ada.messages.list(conversation_id, { view: 'all' })
    const { messages: thread } = await ada.threads.tree(root_id, {})
    const { pins } = await ada.pins.list(conversation_id)
    const { results } = await ada.search.messages({ q: word, in: conversation_id })
    const last = (await ada.conversations.list({})).conversations.find(({ id }) => id === conversation_id)!.last_message
    const kindOf = (messages: readonly { id: string; author_kind?: string }[]) =>
      messages.find(({ id }) => id === root_id)!.author_kind
    return {
      get: (await ada.messages.get(root_id)).author_kind,
      timeline: kindOf(timeline),
      thread: kindOf(thread),
      pinned: kindOf(pins.map(({ message }) => message)),
      hit: kindOf(results.map(({ message }) => message)),
      quote: timeline.find(({ quote }) => quote)!.quote!.author_kind,
      own: timeline.find(({ author_user_id }) => author_user_id === ada.id)!.author_kind,
      last: last!.author_kind,
    }
  }

  /** The kinds of participants, by name. */
  async function kindsOfParticipants(conversation_id: string) {
    const { participants } = await ada.participants.list(conversation_id, {})
    return Object.fromEntries(participants.map(({ user_id, kind }) => [user_id, kind]))
  }

  it('as authors, until a person has taken over what they have', async () => {
    const guest = await newGuest()
    const { conversation_id } = guest
    const stream = await openStream(
      service.base_url,
      conversation_id,
      await signInByHand(service.base_url, ada.email, PASSWORD),
    )
    await stream.until('stream.ready')
    const word = `hello${guest.user.id.slice(-6)}`
    const posted = await guest.client.messages.postRoot(conversation_id, { content: word })
    expect(posted.message.author_kind).toBe('guest')
    const root_id = posted.message_id
    const { event } = (await stream.until('message.new')).at(-1)!
    expect(event.payload).toMatchObject({ message: { id: root_id, author_kind: 'guest' } })
    await stream.close()
    await ada.messages.postRoot(conversation_id, { content: 'Welcome', quote_id: root_id })
    const reply = await guest.client.messages.reply(root_id, { content: 'Thanks' })
    expect(reply.message.author_kind).toBe('guest')
    await ada.pins.add(root_id)
    const all = { get: 'guest', timeline: 'guest', thread: 'guest', pinned: 'guest', hit: 'guest', quote: 'guest' }
    expect(await kindsIn(conversation_id, { root_id, word })).toEqual({ ...all, own: undefined, last: 'guest' })
    expect(await kindsOfParticipants(conversation_id)).toEqual({ [guest.user.id]: 'guest', [ada.id]: undefined })

    const grace = await service.signIn(`grace-${guest.user.id.slice(-6).toLowerCase()}`)
    await grace.guests.claim({ token: guest.token })
    const kinds = await kindsIn(conversation_id, { root_id, word })
    expect(Object.values(kinds).every((kind) => kind === undefined)).toBe(true)
    expect(await kindsOfParticipants(conversation_id)).toEqual({ [grace.id]: undefined, [ada.id]: undefined })
  })

  it('when they are added, get another role, and as the other one of a direct conversation', async () => {
    const guest = await newGuest()
    const { conversation_id } = await ada.conversations.create({ title: 'Team' })
    const added = await ada.participants.add(conversation_id, { user_id: guest.user.id, role: 'member' })
    expect(added).toMatchObject({ participant: { user_id: guest.user.id, kind: 'guest' } })
    const changed = await ada.participants.changeRole(conversation_id, guest.user.id, { role: 'viewer' })
    expect(changed.participant.kind).toBe('guest')
    const { conversation } = await ada.conversations.direct({ user_id: guest.user.id })
    expect(conversation.with).toMatchObject({ user_id: guest.user.id, kind: 'guest' })
    expect((await guest.client.conversations.get(conversation.id)).with).not.toHaveProperty('kind')
  })

  it('no longer, once the host gives them roles of persons', async () => {
    const sub = `visitor-${Math.random()}`
    const visitor = as(await sign(sub, ['guest']))
    const { user } = await visitor.auth.me()
    const { conversation_id } = await ada.conversations.create({ title: 'Shop' })
    await ada.participants.add(conversation_id, { user_id: user.id, role: 'member' })
    const { message_id } = await visitor.messages.postRoot(conversation_id, { content: 'Hello' })
    expect((await ada.messages.get(message_id)).author_kind).toBe('guest')
    const person = as(await sign(sub, ['member']))
    expect((await person.auth.me()).user).not.toHaveProperty('kind')
    expect(await ada.messages.get(message_id)).not.toHaveProperty('author_kind')
    expect(await kindsOfParticipants(conversation_id)).toEqual({ [user.id]: undefined, [ada.id]: undefined })
  })
})
