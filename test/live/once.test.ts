import { beforeAll, describe, expect, it } from 'vitest'
import type { ReceivedEvent } from '../../lib/client/index.ts'
import { currentMicros } from '../../lib/core/time.ts'
import type { Actor } from '../../lib/index.ts'
import type { Delivered } from '../../lib/live/readers/delivery.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpNodes } from '../support/describe-service.ts'
import { innerState, startService, type TestService } from '../support/service.ts'
import { openStream } from '../support/stream.ts'
import { headersOf, isNews, positionOf, range, readAnew, seqOf, seqsOf, soon, startReading, turns } from './readers.ts'

const CAUGHT_UP = { type: 'stream.closed', payload: { reason: 'caught_up' } }
const STREAMS = 8

interface Poll {
  search?: string
  last_event_id?: string | undefined
  cookie?: string
  node?: TestService
}

describeOnEachDatabase('a stream that ends with the next events', (openUrl) => {
  let url: string
  const [here, there] = setUpNodes(async () => {
    url = await openUrl()
    const config = {
      sse: { max_streams_per_user: STREAMS },
      session: { max_sessions_per_user: 50 },
      // A request that waits ends with any event: also when a user of another test lapses to offline, after a minute.
      presence: { broadcast_participants: 0 },
    }
    return [await startService(url, { config }), await startService(url, { config })]
  })
  let reading: Awaited<ReturnType<typeof startReading>>
  beforeAll(async () => {
    reading = await startReading(here)
  })
  async function begin() {
    reading = await readAnew(reading)
    return { ...reading, position: await positionOf(reading.ada, reading.conversation_id) }
  }

  /** Opens the stream of a conversation, or of all, to read it to its end. */
  async function openOnce(id: string | undefined, { search = '', last_event_id, cookie, node = here }: Poll = {}) {
    const stream = await openStream(node.base_url, id, {
      cookie: cookie ?? reading.cookie,
      search: `?once=true${search}`,
      ...(last_event_id !== undefined && { last_event_id }),
    })
    /** All events, but those of presence: users come and go with the streams of other tests. */
    async function readAll(): Promise<ReceivedEvent[]> {
      const events: ReceivedEvent[] = []
      for (let next = await stream.next(); next; next = await stream.next()) events.push(next)
      return events.filter(isNews)
    }
    return { ...stream, readAll }
  }
  const once = async (id: string | undefined, options?: Poll) => (await openOnce(id, options)).readAll()
  const eventsOf = (received: ReceivedEvent[]) => received.map(({ event }) => event)
  const typesIn = (received: ReceivedEvent[]) => received.map(({ event }) => event.type)
  const waiting = (size: number) => soon(() => expect(innerState(here).streams.hub.size()).toBe(size))

  describe.each([
    ['of a conversation', (id: string): string | undefined => id],
    ['of all', (): string | undefined => undefined],
  ])('%s', (_, pathOf) => {
    const positionIn = async (id: string) => (await once(pathOf(id)))[0]!.id!

    it('tells a client without an id its position', async () => {
      const { conversation_id } = await begin()
      const seen = await once(pathOf(conversation_id))
      expect(seen[0]).toMatchObject({
        id: expect.any(String),
        event: { type: 'stream.ready', payload: { resumed: false } },
      })
      expect(seen.at(-1)).toEqual({ event: CAUGHT_UP })
      expect(typesIn(seen).filter((type) => !/^(stream|notifications)/.test(type))).toEqual([])
    })

    it.each(['', '&wait_seconds=25'])('has what was missed, and ends at once: "once=true%s"', async (search) => {
      const { ada, conversation_id } = await begin()
      const last_event_id = await positionIn(conversation_id)
      for (const content of ['one', 'two']) await ada.messages.postRoot(conversation_id, { content })
      const seen = await once(pathOf(conversation_id), { search, last_event_id })
      expect(typesIn(seen).filter((type) => type !== 'notifications.count')).toEqual([
        'stream.ready',
        'thread.new',
        'message.new',
        'thread.new',
        'message.new',
        'stream.closed',
      ])
      expect(eventsOf(seen)[0]).toMatchObject({ payload: { resumed: true } })
      expect(eventsOf(seen).at(-1)).toEqual(CAUGHT_UP)
    })

    it('ends without an event if none was missed and it must not wait', async () => {
      const { conversation_id } = await begin()
      const last_event_id = await positionIn(conversation_id)
      const seen = await once(pathOf(conversation_id), { search: '&wait_seconds=0', last_event_id })
      expect(seen[0]).toMatchObject({ id: last_event_id, event: { payload: { resumed: true } } })
      expect(eventsOf(seen).at(-1)).toEqual(CAUGHT_UP)
      expect(seqsOf(seen)).toEqual([])
    })

    it('ends when its time is over, without an event', async () => {
      const { conversation_id } = await begin()
      const last_event_id = await positionIn(conversation_id)
      const seen = await once(pathOf(conversation_id), { search: '&wait_seconds=1', last_event_id })
      expect(eventsOf(seen)[0]).toMatchObject({ type: 'stream.ready', payload: { resumed: true } })
      expect(eventsOf(seen).at(-1)).toEqual(CAUGHT_UP)
      expect(seqsOf(seen)).toEqual([])
      await waiting(0)
    })

    it('ends with the events of the post that it waited for, made on either node', async () => {
      const { grace, conversation_id } = await begin()
      let last_event_id = await positionIn(conversation_id)
      for (const node of [here, there]) {
        const stream = await openOnce(pathOf(conversation_id), { search: '&wait_seconds=25', last_event_id })
        await stream.until('stream.ready')
        const actor = await node.chat.users.actor(grace.id)
        await node.chat.messages.postRoot(actor, conversation_id, { content: 'Hello @ada' })
        const seen = await stream.readAll()
        expect(typesIn(seen)).toEqual(expect.arrayContaining(['thread.new', 'message.new']))
        expect(eventsOf(seen).at(-1)).toEqual(CAUGHT_UP)
        // What follows from the post, and is sent once to the open streams.
        if (pathOf('') === undefined) expect(typesIn(seen)).toContain('notification.new')
        last_event_id = seen.findLast(({ id }) => id !== undefined)!.id!
      }
      expect(seqsOf(await once(pathOf(conversation_id), { last_event_id }))).toEqual([])
    })

    it('waits for an event when the client has no id yet', async () => {
      const { grace, conversation_id } = await begin()
      const stream = await openOnce(pathOf(conversation_id), { search: '&wait_seconds=25' })
      expect((await stream.until('stream.ready')).at(-1)).toMatchObject({ event: { payload: { resumed: false } } })
      const actor = await here.chat.users.actor(grace.id)
      await here.chat.messages.postRoot(actor, conversation_id, { content: 'Hello @ada' })
      const seen = await stream.readAll()
      expect(typesIn(seen)).toEqual(expect.arrayContaining(['thread.new', 'message.new']))
      expect(eventsOf(seen).at(-1)).toEqual(CAUGHT_UP)
    })

    it('tells a client whose id cannot be used its position at once', async () => {
      const { conversation_id } = await begin()
      const seen = await once(pathOf(conversation_id), { search: '&wait_seconds=25', last_event_id: 'nonsense' })
      expect(eventsOf(seen)).toEqual(
        expect.arrayContaining([expect.objectContaining({ type: 'stream.reset' }), CAUGHT_UP]),
      )
    })

    it.each([
      '?once=true&wait_seconds=26',
      '?once=true&wait_seconds=-1',
      '?once=true&wait_seconds=1.5',
      '?once=true&wait_seconds=soon',
      '?once=true&wait_seconds=',
      '?once=yes',
      '?wait_seconds=0',
      '?once=false&wait_seconds=5',
    ])('refuses %s', async (search) => {
      const { conversation_id, cookie } = await begin()
      const { response } = await openStream(here.base_url, pathOf(conversation_id), { cookie, search })
      expect(response.status).toBe(422)
      expect(await response.json()).toMatchObject({
        code: 'validation_failed',
        errors: [{ path: search.includes('once=yes') ? 'once' : 'wait_seconds' }],
      })
      await waiting(0)
    })

    it('ends with the session of its reader, and with its process', async () => {
      const { ada, conversation_id } = await begin()
      const last_event_id = await positionIn(conversation_id)
      const headers = await headersOf(here, ada)
      const node = await startService(url)
      const poll = { search: '&wait_seconds=25', last_event_id }
      const signedOut = await openOnce(pathOf(conversation_id), { ...poll, cookie: headers.cookie })
      const drained = await openOnce(pathOf(conversation_id), { ...poll, node })
      await Promise.all([signedOut, drained].map((stream) => stream.until('stream.ready')))
      await fetch(`${here.base_url}/api/auth/logout`, { method: 'POST', headers })
      expect(eventsOf(await signedOut.readAll()).at(-1)).toMatchObject({ payload: { reason: 'session_ended' } })
      node.chat.drain()
      expect(eventsOf(await drained.readAll()).at(-1)).toMatchObject({ payload: { reason: 'draining' } })
      await node.close()
    })

    it('loses nothing between two requests, to one node or the other', async () => {
      const { ada, conversation_id } = await begin()
      let last_event_id: string | undefined = await positionIn(conversation_id)
      const actor = await here.chat.users.actor(ada.id)
      const contents = range(0, 40).map(String)
      const posting = (async () => {
        for (const [n, content] of contents.entries())
          await (n % 2 ? here : there).chat.messages.postRoot(actor, conversation_id, { content })
      })()
      const seen: string[] = []
      for (let n = 0; seen.length < contents.length; n++) {
        const node = n % 3 ? here : there
        const received = await once(pathOf(conversation_id), { search: '&wait_seconds=25', last_event_id, node })
        last_event_id = received.findLast(({ id }) => id !== undefined)?.id
        for (const { event } of received)
          if (event.type === 'message.new' && event.payload.message.conversation_id === conversation_id)
            seen.push(event.payload.message.content)
      }
      await posting
      expect(seen).toEqual(contents)
    })
  })

  it('ends when its user is removed from the conversation', async () => {
    const { ada, grace, conversation_id, graces_cookie: cookie, position: last_event_id } = await begin()
    const stream = await openOnce(conversation_id, { search: '&wait_seconds=25', last_event_id, cookie })
    await stream.until('stream.ready')
    await ada.participants.remove(conversation_id, grace.id)
    expect(eventsOf(await stream.readAll()).at(-1)).toMatchObject({ payload: { reason: 'removed' } })
  })

  it('takes the place of a stream while it is open', async () => {
    const { ada, conversation_id, position: last_event_id } = await begin()
    await waiting(0)
    const open = []
    for (let n = 0; n < STREAMS; n++) {
      open.push(await openOnce(conversation_id, { search: '&wait_seconds=25', last_event_id }))
      await open.at(-1)!.until('stream.ready')
    }
    const refused = await openOnce(conversation_id, { last_event_id })
    expect(await refused.response.json()).toMatchObject({ code: 'too_many_streams' })
    await ada.messages.postRoot(conversation_id, { content: 'x' })
    for (const stream of open) expect(eventsOf(await stream.readAll()).at(-1)).toEqual(CAUGHT_UP)
    await waiting(0)
    expect(eventsOf(await once(conversation_id, { last_event_id })).at(-1)).toEqual(CAUGHT_UP)
  })

  it('is limited as a request', async () => {
    const burst = 5
    const now = currentMicros()
    const node = await startService(url, {
      config: { rate_limits: { default_rps: 1, burst } },
      ports: { now: () => now },
    })
    const { conversation_id, cookie } = await begin()
    const statuses = []
    for (let n = 0; n <= burst; n++)
      statuses.push(
        (await openStream(node.base_url, conversation_id, { cookie, search: '?once=true' })).response.status,
      )
    expect(statuses).toEqual([...Array(burst).fill(200), 429])
    await node.close()
  })

  it('sends missed events at the pace of its reader, and all of them', async () => {
    const { ada, conversation_id, position: last_event_id } = await begin()
    const actor: Actor = await here.chat.users.actor(ada.id)
    const POSTS = 100
    for (let n = 0; n < POSTS; n++) await here.chat.messages.postRoot(actor, conversation_id, { content: 'x' })
    const opening = await here.chat.events.open(actor, conversation_id, { last_event_id, once: true })
    const events: Delivered[] = []
    let readOn: (() => void) | undefined
    let isOver = false
    opening.connect({
      write: (delivery) => void events.push(...delivery.events),
      pending: () => 0,
      drained: () => new Promise((resolve) => (readOn = resolve)),
      end: () => (isOver = true),
    })
    const sent: number[] = []
    while (!isOver) {
      await soon(() => expect(isOver || readOn !== undefined).toBe(true))
      await turns()
      sent.push(events.length)
      readOn?.()
      readOn = undefined
    }
    expect(sent.length).toBeGreaterThan(2)
    expect(sent[0]).toBeLessThan(POSTS)
    expect(seqsOf(events as ReceivedEvent[])).toEqual(range(seqOf(last_event_id), seqOf(last_event_id) + 2 * POSTS))
    expect(events.at(-1)!.event).toEqual(CAUGHT_UP)
  })
})
