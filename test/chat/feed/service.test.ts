import { beforeAll, expect, it } from 'vitest'
import { type Actor, type Chat, type FeedEvent, OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, startService, times } from '../../support/service.ts'

const contentsOf = (events: FeedEvent[]) =>
  events.flatMap((event) => (event.type === 'message.new' ? event.data.message.content : []))

describeOnEachDatabase('the feed', (openUrl) => {
  const [service, node] = setUpNodes(async () => {
    const url = await openUrl()
    return [await startService(url), await startService(url)]
  })
  let ada: Person
  let grace: Person
  let actor: Actor
  let other: Actor
  let conversation_id: string

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    actor = await service.chat.users.actor(ada.id)
    other = await service.chat.users.actor(grace.id)
    conversation_id = (await ada.conversations.create({ title: 'one' })).conversation_id
  })

  const now = async (who = actor) => (await service.chat.feed.read(who)).position
  const post = (content: string, chat: Chat = service.chat) =>
    chat.messages.postRoot(actor, conversation_id, { content })

  it('returns the present position first, then each event after it once', async () => {
    const first = await service.chat.feed.read(actor)
    expect(first).toEqual({ events: [], position: expect.any(String) })
    await post('one')
    await post('two', node.chat)
    const { events, position, ...rest } = await service.chat.feed.read(actor, { after: first.position })
    expect(rest).toEqual({})
    expect(contentsOf(events)).toEqual(['one', 'two'])
    const [event] = events
    expect(event).toMatchObject({ conversation_id, seq: expect.any(Number), timestamp: expect.stringMatching(/Z$/) })
    expect(event!.id).toMatch(/^evt_[a-z0-9_]{1,60}$/)
    expect(events.map(({ id }) => id).toSorted()).toEqual(events.map(({ id }) => id))
    // From the place of each event on, and on the other node.
    const after = await node.chat.feed.read(actor, { after: event!.position })
    expect(after.events.map(({ id }) => id)).toEqual(events.slice(1).map(({ id }) => id))
    expect((await node.chat.feed.read(actor, { after: position })).events).toEqual([])
  })

  it('goes on in pages with `more`, each of at most `limit` events', async () => {
    const after = await now()
    for (const n of times(7, (n) => n)) await post(`${n}`)
    const contents: string[] = []
    let position = after
    for (let more: true | undefined = true; more; ) {
      const page = await service.chat.feed.read(actor, { after: position, limit: 2, types: 'message.new' })
      expect(page.events.length).toBeLessThanOrEqual(2)
      contents.push(...contentsOf(page.events))
      ;({ position, more } = page)
    }
    expect(contents).toEqual(['0', '1', '2', '3', '4', '5', '6'])
    const whole = await service.chat.feed.read(actor, { after, types: 'message.new', limit: 7 })
    expect(whole.events).toHaveLength(7)
    expect(whole.more).toBeUndefined()
  })

  it('keeps within 1 MiB, and returns an event that is larger alone', async () => {
    const after = await now()
    const content = 'x'.repeat(30_000)
    await Promise.all(times(40, () => post(content)))
    const { events, more, position } = await service.chat.feed.read(actor, {
      after,
      types: 'message.new',
      limit: 1000,
    })
    expect(JSON.stringify(events).length).toBeLessThanOrEqual(1024 * 1024 + events.length)
    expect(events.length).toBeGreaterThan(20)
    expect(more).toBe(true)
    const rest = await service.chat.feed.read(actor, { after: position, types: 'message.new', limit: 1000 })
    expect(events.length + rest.events.length).toBe(40)
  })

  it('shows what the user participates in, from the joining to the leaving, and composes it when it is read', async () => {
    const [mine, theirs] = [await now(), await now(other)]
    await post('before')
    await service.chat.participants.add(actor, conversation_id, { user_id: other.user_id, role: 'member' })
    const { message_id } = await post('between')
    await service.chat.messages.remove(actor, message_id)
    const both = await service.chat.feed.read(other, { after: theirs })
    expect(contentsOf(both.events)).toEqual([''])
    expect(both.events[0]!.type).toBe('membership.changed')
    await service.chat.participants.remove(actor, conversation_id, other.user_id)
    await post('after')
    const left = await service.chat.feed.read(other, { after: theirs })
    expect(left.events.map(({ type }) => type)).toEqual(['membership.changed', 'membership.changed'])
    expect(contentsOf((await service.chat.feed.read(actor, { after: mine })).events)).toEqual(['before', '', 'after'])
    expect(await codeOf(service.chat.feed.read(other, { conversation_id }))).toBe('not_found')
  })

  it.each([
    ['message.new', ['message.new']],
    ['message.*', ['message.new', 'message.edited']],
    ['thread.*,message.edited', ['thread.new', 'message.edited']],
    ['*', ['message.new', 'thread.new', 'message.edited']],
  ])('returns the types of %s, and a position behind the others', async (types, expected) => {
    const after = await now()
    const { message_id } = await post('text')
    await service.chat.messages.edit(actor, message_id, { content: 'edited' })
    const { events, position } = await service.chat.feed.read(actor, { after, types })
    expect(events.map(({ type }) => type).toSorted()).toEqual(expected.toSorted())
    expect((await service.chat.feed.read(actor, { after: position })).events).toEqual([])
  })

  it.each([
    [{ types: '' }],
    [{ types: 'message' }],
    [{ types: 'mess*' }],
    [{ types: 'message.nothing' }],
    [{ types: 'presence.update' }],
    [{ types: 'nothing.*' }],
    [{ wait_seconds: 51 }],
    [{ wait_seconds: -1 }],
    [{ limit: 0 }],
    [{ limit: 0 }],
    [{ webhook_id: 'x' } as object],
  ])('refuses %j', async (options) => {
    expect(await codeOf(service.chat.feed.read(actor, options))).toBe('validation_failed')
  })

  it('names an unknown type, and the nearest one', async () => {
    const errors = [{ path: 'types', message: 'no event has the type "mesage.new", did you mean "message.new"?' }]
    await expect(service.chat.feed.read(actor, { types: 'message.*,mesage.new' })).rejects.toMatchObject({ errors })
  })

  it.each([
    ['malformed', 'x'],
    ['unknown', '0000000000000000.1'],
  ])('resets a position that is %s', async (reason, after) => {
    const page = await service.chat.feed.read(actor, { after, wait_seconds: 5 })
    expect(page).toEqual({ events: [], position: expect.any(String), reset: { reason } })
    expect((await service.chat.feed.read(actor, { after: page.position })).reset).toBeUndefined()
  })

  it('waits for the first event, of any node, and not for those of others', async () => {
    for (const chat of [service.chat, node.chat]) {
      const after = await now()
      const waiting = service.chat.feed.read(actor, { after, wait_seconds: 20, types: 'message.new' })
      await service.chat.conversations.create(other, { title: 'of grace' })
      await post('news', chat)
      const { events, position } = await waiting
      expect(contentsOf(events)).toEqual(['news'])
      expect(await service.chat.feed.read(actor, { after: position, wait_seconds: 0 })).toMatchObject({ events: [] })
    }
    expect(innerState(service).streams.hub.watch.size()).toBe(0)
    expect(innerState(service).streams.hub.size()).toBe(0)
  })

  it('returns at the end of the wait with a position behind what others did, and at once when the signal aborts', async () => {
    const after = await now()
    const waiting = service.chat.feed.read(actor, { after, wait_seconds: 1 })
    await service.chat.conversations.create(other, { title: 'of grace' })
    const { events, position } = await waiting
    expect(events).toEqual([])
    const [row] = await innerState(service).db.all<{ last: number }>(sql`SELECT max(id) AS last FROM events`)
    const { feed } = innerState(service).streams.hub
    const { rows } = await feed.news(feed.parse(position.slice(17))!, 10)
    expect(rows, String(row?.last)).toEqual([])
    const controller = new AbortController()
    const aborted = service.chat.feed.read(actor, { after: position, wait_seconds: 50, signal: controller.signal })
    setTimeout(() => controller.abort(), 50)
    expect((await aborted).events).toEqual([])
  })

  it('ends with 401 when the account is disabled, also on another node', async () => {
    const eve = await service.signIn('eve')
    const reader = await service.chat.users.actor(eve.id)
    const after = await now(reader)
    const waiting = codeOf(service.chat.feed.read(reader, { after, wait_seconds: 50 }))
    await new Promise((resolve) => setTimeout(resolve, 100))
    await node.chat.users.change(OPERATOR, eve.id, { disabled: true })
    expect(await waiting).toBe('unauthenticated')
    expect(await codeOf(service.chat.feed.read(reader, { after }))).toBe('unauthenticated')
  })

  it('counts as a stream of the user', async () => {
    const { max_streams_per_user } = innerState(service).config.sse
    const after = await now()
    const controllers = times(max_streams_per_user, () => new AbortController())
    const all = controllers.map(({ signal }) => service.chat.feed.read(actor, { after, wait_seconds: 50, signal }))
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await codeOf(service.chat.feed.read(actor, { after }))).toBe('too_many_streams')
    for (const controller of controllers) controller.abort()
    await Promise.all(all)
    expect((await service.chat.feed.read(actor, { after })).events).toEqual([])
  })

  it('shows all conversations to a system actor, with the ids of the host', async () => {
    const orders = await service.chat.system('orders')
    const { position } = await service.chat.feed.read(orders)
    await post('of ada')
    const { events } = await service.chat.feed.read(orders, { after: position, types: 'message.new' })
    expect(contentsOf(events)).toEqual(['of ada'])
    expect(events[0]!.subjects).toEqual({})
  })

  it('looks into no conversation of the user when there is no news', async () => {
    const { db } = innerState(service)
    const wide = await service.signIn('wide')
    const reader = await service.chat.users.actor(wide.id)
    const statementsOf = async (after: string) => {
      const seen: string[] = []
      const { all, get } = db
      // Jobs of the service read at any time.
      const noting = (read: typeof all) => (statement: Parameters<typeof all>[0]) => {
        if (JSON.stringify(statement.params).includes(wide.id) || /FROM events/.test(statement.text))
          seen.push(statement.text)
        return read(statement as never)
      }
      Object.assign(db, { all: noting(all), get: noting(get as never) })
      try {
        for (const _ of times(3, () => 0)) await service.chat.feed.read(reader, { after })
        // The presence of the user would be sent by now.
        await new Promise((resolve) => setTimeout(resolve, 500))
      } finally {
        Object.assign(db, { all, get })
      }
      return seen
    }
    await Promise.all(times(30, (n) => service.chat.conversations.create(reader, { title: `${n}` })))
    const { position } = await service.chat.feed.read(reader)
    await service.chat.idle()
    const statements = await statementsOf(position)
    expect(statements.some((text) => /FROM events/.test(text))).toBe(true)
    expect(statements.filter((text) => /participants/.test(text))).toEqual([])
  })
})
