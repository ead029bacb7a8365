import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { LAPSE } from '../../../lib/chat/presence/rules.ts'
import type { ConversationStreamEvent, ReceivedEvent } from '../../../lib/client/index.ts'
import { currentMicros, fromInstant, toInstant } from '../../../lib/core/time.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { AS_TWO_NODES } from '../../support/node-pair.ts'
import { codeOf, innerState, PASSWORD, type Person, startService } from '../../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../../support/stream.ts'

describeOnEachDatabase('presence and typing', (openUrl) => {
  const service = setUpService(async () => startService(await openUrl(), { ports: { now } }))
  // A held clock: the test moves it. Of two nodes it goes on, or the later status would not be the later one.
  let clock = currentMicros()
  const started = currentMicros()
  const now = () => clock + (AS_TWO_NODES ? currentMicros() - started : 0)
  const pass = (seconds: number) => {
    clock += seconds * SECOND
  }
  beforeAll(async () => {
    await service.signIn('root')
  })

  let stories = 0

  /** Ada and Grace share a conversation; Eve shares none with them. None of them was ever online. */
  async function meet() {
    const story = ++stories
    const ada = await service.signIn(`ada${story}`)
    const grace = await service.signIn(`grace${story}`)
    const eve = await service.signIn(`eve${story}`)
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    return { ada, grace, eve, conversation_id }
  }

  async function follow(person: Person, conversation_id?: string): Promise<TestStream> {
    const { cookie } = await signInByHand(service.base_url, person.email, PASSWORD)
    const stream = await openStream(service.base_url, conversation_id, { cookie })
    onTestFinished(() => stream.close())
    await stream.until('stream.ready')
    return stream
  }

  /** Waits until the service has noticed that the last stream of a user is closed. */
  const gone = (person: Person) => expect.poll(() => innerState(service).streams.hub.countStreams(person.id)).toBe(0)

  const presenceOf = async (person: Person, { by, conversation_id }: { by: Person; conversation_id: string }) => {
    const { participants } = await by.conversations.get(conversation_id)
    return participants.find(({ user_id }) => user_id === person.id)!.presence
  }

  /** All events of a stream so far: those before two more messages, since an ephemeral event may arrive after one. */
  async function soFar(stream: TestStream, by: Person, conversation_id: string): Promise<ReceivedEvent[]> {
    const seen: ReceivedEvent[] = []
    for (const content of ['so', 'far']) {
      const { message_id } = await by.messages.postRoot(conversation_id, { content })
      seen.push(...(await stream.until('message.new', (event) => idOf(event) === message_id)))
    }
    return seen
  }
  const idOf = (event: ConversationStreamEvent) => event.type === 'message.new' && event.payload.message.id
  const saysOf = (events: ReceivedEvent[], person: Person) =>
    events.flatMap(({ event }) =>
      event.type === 'presence.update' && event.payload.user_id === person.id ? [event.payload.status] : [],
    )
  const becomes = (stream: TestStream, person: Person, status: string) =>
    stream.until(
      'presence.update',
      ({ type, payload }) => type === 'presence.update' && payload.user_id === person.id && payload.status === status,
    )

  describe('a heartbeat', () => {
    it.each(['online', 'away', 'offline'] as const)('reports its user to others as %s', async (status) => {
      const { ada, grace, conversation_id } = await meet()
      expect(await presenceOf(ada, { by: grace, conversation_id })).toEqual({ status: 'offline' })
      const sent = now()
      await ada.presence.sendHeartbeat({ status })
      // Another node learns of it a little later, and only how long ago it was.
      const presence = { status, last_seen_at: AS_TWO_NODES ? expect.any(String) : toInstant(sent) }
      for (const node of service.nodes)
        await expect.poll(() => innerState(node).streams.presence.find(ada.id)).toEqual(presence)
      const read = await presenceOf(ada, { by: grace, conversation_id })
      expect(read).toEqual(presence)
      expect(Math.abs(fromInstant(read.last_seen_at!) - sent)).toBeLessThan(LAPSE)
      expect(await presenceOf(grace, { by: grace, conversation_id })).toEqual({ status: 'offline' })
    })

    it('without a status means online', async () => {
      const { ada, grace, conversation_id } = await meet()
      await ada.presence.sendHeartbeat()
      const status = async () => (await presenceOf(ada, { by: grace, conversation_id })).status
      await expect.poll(status).toBe('online')
      await ada.presence.sendHeartbeat({ status: 'away' })
      await expect.poll(status).toBe('away')
      await ada.presence.sendHeartbeat({})
      await expect.poll(status).toBe('online')
    })

    it('is valid for 60 seconds, and last_seen_at stays', async () => {
      const { ada, grace, conversation_id } = await meet()
      const stream = await follow(grace, conversation_id)
      await ada.presence.sendHeartbeat()
      await becomes(stream, ada, 'online')
      pass(59)
      await ada.presence.sendHeartbeat()
      const last_seen_at = toInstant(clock)
      pass(59)
      await innerState(service).streams.presence.sweep()
      expect(await presenceOf(ada, { by: grace, conversation_id })).toEqual({ status: 'online', last_seen_at })
      pass(1)
      await innerState(service).streams.presence.sweep()
      expect(await presenceOf(ada, { by: grace, conversation_id })).toEqual({ status: 'offline', last_seen_at })
      const told = await becomes(stream, ada, 'offline')
      expect(saysOf(told, ada)).toEqual(['offline'])
      expect(told.at(-1)).toEqual({
        event: { type: 'presence.update', payload: { user_id: ada.id, status: 'offline', last_seen_at } },
      })
    })

    it('is accepted from a read-only user', async () => {
      const { ada, conversation_id } = await meet()
      const carol = await service.signIn(`carol${stories}`, ['read_only'])
      await ada.participants.add(conversation_id, { user_id: carol.id })
      await carol.presence.sendHeartbeat()
      const status = async () => (await presenceOf(carol, { by: ada, conversation_id })).status
      await expect.poll(status).toBe('online')
    })
  })

  describe('an open stream', () => {
    it('keeps its reader online, however old the last heartbeat is', async () => {
      const { ada, grace, conversation_id } = await meet()
      const stream = await follow(grace, conversation_id)
      await follow(ada, conversation_id)
      await becomes(stream, ada, 'online')
      await ada.presence.sendHeartbeat()
      pass(600)
      await innerState(service).streams.presence.sweep()
      expect((await presenceOf(ada, { by: grace, conversation_id })).status).toBe('online')
      expect(saysOf(await soFar(stream, grace, conversation_id), ada)).toEqual([])
    })

    it('takes its reader offline when the last stream closes and no heartbeat is valid', async () => {
      const { ada, grace, conversation_id } = await meet()
      const stream = await follow(grace, conversation_id)
      const [first, second] = [await follow(ada, conversation_id), await follow(ada)]
      await becomes(stream, ada, 'online')
      pass(5)
      await first.close()
      expect(saysOf(await soFar(stream, grace, conversation_id), ada)).toEqual([])
      await second.close()
      await gone(ada)
      const last_seen_at = toInstant(clock)
      pass(5)
      const told = await becomes(stream, ada, 'offline')
      expect(told.at(-1)!.event.payload).toMatchObject({ last_seen_at })
      expect(await presenceOf(ada, { by: grace, conversation_id })).toEqual({ status: 'offline', last_seen_at })
    })

    it('that is opened again within 5 seconds was never closed for others', async () => {
      const { ada, grace, conversation_id } = await meet()
      const stream = await follow(grace, conversation_id)
      const hers = await follow(ada, conversation_id)
      await becomes(stream, ada, 'online')
      await hers.close()
      await gone(ada)
      pass(4.9)
      await innerState(service).streams.presence.sweep()
      expect((await presenceOf(ada, { by: grace, conversation_id })).status).toBe('online')
      const again = await follow(ada)
      pass(60)
      await innerState(service).streams.presence.sweep()
      expect(saysOf(await soFar(stream, grace, conversation_id), ada)).toEqual([])
      await again.close()
      await gone(ada)
      pass(5)
      expect(saysOf(await becomes(stream, ada, 'offline'), ada)).toEqual(['offline'])
    })

    it('leaves its reader online while a heartbeat is valid', async () => {
      const { ada, grace, conversation_id } = await meet()
      const stream = await follow(grace, conversation_id)
      const hers = await follow(ada, conversation_id)
      await becomes(stream, ada, 'online')
      await ada.presence.sendHeartbeat()
      await hers.close()
      await gone(ada)
      pass(5)
      await innerState(service).streams.presence.sweep()
      expect(saysOf(await soFar(stream, grace, conversation_id), ada)).toEqual([])
      expect((await presenceOf(ada, { by: grace, conversation_id })).status).toBe('online')
      pass(60)
      await innerState(service).streams.presence.sweep()
      await becomes(stream, ada, 'offline')
    })

    it('does not override the status of a heartbeat', async () => {
      const { ada, grace, conversation_id } = await meet()
      const stream = await follow(grace, conversation_id)
      await follow(ada, conversation_id)
      await becomes(stream, ada, 'online')
      await ada.presence.sendHeartbeat({ status: 'away' })
      await becomes(stream, ada, 'away')
      pass(600)
      await innerState(service).streams.presence.sweep()
      expect((await presenceOf(ada, { by: grace, conversation_id })).status).toBe('away')
    })
  })

  describe('presence.update', () => {
    it('is sent once for each change, without an id', async () => {
      const { ada, grace, conversation_id } = await meet()
      const stream = await follow(grace, conversation_id)
      const seen: ReceivedEvent[] = []
      let last = ''
      for (const status of ['online', 'online', 'away', 'away', 'online', 'offline', 'offline'] as const) {
        await ada.presence.sendHeartbeat({ status })
        for (const node of service.nodes) await innerState(node).streams.presence.sweep()
        if (status !== last) seen.push(...(await becomes(stream, ada, status)))
        seen.push(...(await soFar(stream, grace, conversation_id)))
        last = status
      }
      expect(saysOf(seen, ada)).toEqual(['online', 'away', 'online', 'offline'])
      for (const { id, event } of seen) if (event.type === 'presence.update') expect(id).toBeUndefined()
    })

    it('is sent once for the changes of a moment: the last one counts', async () => {
      const { ada, grace, conversation_id } = await meet()
      const stream = await follow(grace, conversation_id)
      const { presence } = innerState(service).streams
      const sendInOneMoment = async (statuses: ('online' | 'away' | 'offline')[]) => {
        // What is gathered before would be published in between.
        await presence.sweep()
        // No moment ends before the sweep, however slow the machine is.
        vi.useFakeTimers({ toFake: ['setTimeout'] })
        try {
          for (const status of statuses) await ada.presence.sendHeartbeat({ status })
          await presence.sweep()
        } finally {
          vi.useRealTimers()
        }
      }
      await sendInOneMoment(['online', 'offline', 'online', 'away'])
      const seen = await becomes(stream, ada, 'away')
      await sendInOneMoment(['online', 'away'])
      seen.push(...(await soFar(stream, grace, conversation_id)))
      expect(saysOf(seen, ada)).toEqual(['away'])
    })

    it('is sent to shared conversations only', async () => {
      const { ada, grace, eve, conversation_id } = await meet()
      const { conversation_id: without } = await grace.conversations.create()
      const { conversation_id: foreign } = await eve.conversations.create()
      const [shared, other, hers] = [
        await follow(grace, conversation_id),
        await follow(grace, without),
        await follow(eve),
      ]
      await ada.presence.sendHeartbeat()
      await becomes(shared, ada, 'online')
      expect(saysOf(await soFar(other, grace, without), ada)).toEqual([])
      expect(saysOf(await soFar(hers, eve, foreign), ada)).toEqual([])
    })

    it('is sent once to a reader of all conversations who shares several', async () => {
      const { ada, grace, conversation_id } = await meet()
      const { conversation_id: another } = await grace.conversations.create()
      await grace.participants.add(another, { user_id: ada.id })
      const stream = await follow(grace)
      await ada.presence.sendHeartbeat()
      await becomes(stream, ada, 'online')
      expect(saysOf(await soFar(stream, grace, conversation_id), ada)).toEqual([])
    })

    it('is sent for a new participant', async () => {
      const { ada, grace, eve, conversation_id } = await meet()
      await eve.presence.sendHeartbeat({ status: 'away' })
      for (const node of service.nodes)
        await expect.poll(() => innerState(node).streams.presence.find(eve.id)).toMatchObject({ status: 'away' })
      const stream = await follow(grace, conversation_id)
      await ada.participants.add(conversation_id, { user_id: eve.id })
      const told = await becomes(stream, eve, 'away')
      expect(told.slice(-2).map(({ event }) => event.type)).toEqual(['membership.changed', 'presence.update'])
    })

    it('is not repeated for a reader who resumes', async () => {
      const { ada, grace, conversation_id } = await meet()
      const { stream_position } = await grace.conversations.get(conversation_id)
      await ada.presence.sendHeartbeat()
      await ada.messages.postRoot(conversation_id, { content: 'missed' })
      const { cookie } = await signInByHand(service.base_url, grace.email, PASSWORD)
      const options = { cookie, ...(stream_position !== undefined && { last_event_id: stream_position }) }
      const stream = await openStream(service.base_url, conversation_id, options)
      onTestFinished(() => stream.close())
      const missed = await stream.until('message.new')
      expect(missed.map(({ event }) => event.type)).toEqual(['stream.ready', 'thread.new', 'message.new'])
    })
  })

  describe('typing', () => {
    const expiresAt = (received: ReceivedEvent[]) => {
      const { event } = received.at(-1)!
      return event.type === 'typing.update' ? event.payload.expires_at : ''
    }

    it.each([
      ['for 5 seconds when it does not say', undefined, 5],
      ['for one second', 1, 1],
      ['for 30 seconds at most', 30, 30],
    ])('lasts %s', async (_, seconds, lasts) => {
      const { ada, grace, conversation_id } = await meet()
      const stream = await follow(grace, conversation_id)
      const before = now()
      await ada.presence.setTyping({ conversation_id, ...(seconds !== undefined && { seconds }) })
      const after = now()
      const told = await stream.until('typing.update')
      const expires_at = expiresAt(told)
      expect(told.at(-1)).toEqual({
        event: { type: 'typing.update', payload: { conversation_id, user_id: ada.id, expires_at } },
      })
      expect(fromInstant(expires_at)).toBeGreaterThanOrEqual(before + lasts * SECOND)
      expect(fromInstant(expires_at)).toBeLessThanOrEqual(after + lasts * SECOND)
    })

    it('ends with 0 seconds: its end is in the past', async () => {
      const { ada, grace, conversation_id } = await meet()
      const stream = await follow(grace, conversation_id)
      const before = now()
      await ada.presence.setTyping({ conversation_id })
      expect(expiresAt(await stream.until('typing.update')) > toInstant(before)).toBe(true)
      await ada.presence.setTyping({ conversation_id, seconds: 0 })
      expect(expiresAt(await stream.until('typing.update')) < toInstant(now())).toBe(true)
    })

    it.each([-1, 31, 2.5, 1e308])('does not last %d seconds', async (seconds) => {
      const { ada, conversation_id } = await meet()
      expect(await codeOf(ada.presence.setTyping({ conversation_id, seconds }))).toBe('validation_failed')
    })

    it('can be in a thread of the conversation, and of no other', async () => {
      const { ada, grace, conversation_id } = await meet()
      const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'x' })
      const { conversation_id: another } = await ada.conversations.create()
      const stream = await follow(grace, conversation_id)
      await ada.presence.setTyping({ conversation_id, root_id })
      expect((await stream.until('typing.update')).at(-1)!.event.payload).toMatchObject({ root_id })
      expect(await codeOf(ada.presence.setTyping({ conversation_id: another, root_id }))).toBe('not_found')
      const reply = await ada.messages.reply(root_id, { content: 'y' })
      const not_a_root = { conversation_id, root_id: reply.message_id }
      expect(await codeOf(ada.presence.setTyping(not_a_root))).toBe('not_found')
      expect(await codeOf(ada.presence.setTyping({ conversation_id, root_id: conversation_id }))).toBe('not_found')
    })

    it('is refused for a viewer, a read-only user and an outsider', async () => {
      const { ada, grace, eve, conversation_id } = await meet()
      const carol = await service.signIn(`carol${stories}`, ['read_only'])
      await ada.participants.add(conversation_id, { user_id: carol.id })
      await ada.participants.changeRole(conversation_id, grace.id, { role: 'viewer' })
      const stream = await follow(ada, conversation_id)
      expect(await codeOf(grace.presence.setTyping({ conversation_id }))).toBe('forbidden')
      expect(await codeOf(carol.presence.setTyping({ conversation_id }))).toBe('forbidden')
      expect(await codeOf(eve.presence.setTyping({ conversation_id }))).toBe('not_found')
      const seen = await soFar(stream, ada, conversation_id)
      expect(seen.some(({ event }) => event.type === 'typing.update')).toBe(false)
    })

    it('is not sent to outsiders', async () => {
      const { ada, grace, eve, conversation_id } = await meet()
      const { conversation_id: foreign } = await eve.conversations.create()
      const [inside, outside] = [await follow(grace, conversation_id), await follow(eve)]
      await ada.presence.setTyping({ conversation_id })
      await inside.until('typing.update')
      const seen = await soFar(outside, eve, foreign)
      expect(seen.some(({ event }) => event.type === 'typing.update')).toBe(false)
    })

    it('is sent to a stream of all conversations too', async () => {
      const { ada, grace, conversation_id } = await meet()
      const stream = await follow(grace)
      await ada.presence.setTyping({ conversation_id })
      const told = await stream.until('typing.update')
      expect(told.at(-1)!.event.payload).toMatchObject({ conversation_id, user_id: ada.id })
    })
  })
})
