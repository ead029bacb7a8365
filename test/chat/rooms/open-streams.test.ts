import { afterEach, beforeAll, expect, it } from 'vitest'
import type { ReceivedEvent } from '../../../lib/client/index.ts'
import { headersOf, isNews, typesOf } from '../../live/readers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { innerState, type Person, startService, type TestService } from '../../support/service.ts'
import { openStream, type TestStream } from '../../support/stream.ts'

const config = {
  access: { roles: { blind: { post: true } } },
  session: { max_sessions_per_user: 100 },
  sse: { max_streams_per_user: 100 },
}

describeOnEachDatabase('the stream of an open room', (openUrl) => {
  const [here, there] = setUpNodes(async () => {
    const url = await openUrl()
    return [await startService(url, { config }), await startService(url, { config })]
  })
  let ada: Person
  let grace: Person
  let cookie: string
  const streams: TestStream[] = []
  beforeAll(async () => {
    ada = await here.signIn('ada')
    grace = await here.signIn('grace')
    cookie = (await headersOf(here, grace)).cookie
  })
  afterEach(() => Promise.all(streams.splice(0).map((stream) => stream.close())))

  async function openRoom(): Promise<{ conversation_id: string; root_id: string }> {
    const { conversation_id } = await ada.conversations.create({
      title: 'Engines',
      visibility: 'open',
      policy: { join: 'anyone' },
    })
    return { conversation_id, root_id: (await ada.messages.postRoot(conversation_id, { content: 'root' })).message_id }
  }

  async function open(node: TestService, conversation_id: string, options: object = {}): Promise<TestStream> {
    const stream = await openStream(node.base_url, conversation_id, { cookie, ...options })
    streams.push(stream)
    await stream.until('stream.ready')
    return stream
  }

  const isOf = (message_id: string) => (event: ReceivedEvent['event']) => JSON.stringify(event).includes(message_id)
  const closed = async (stream: TestStream) => {
    const events = await stream.until('stream.closed')
    return { events, reason: (events.at(-1)!.event.payload as { reason: string }).reason }
  }

  it('has what is stored and the activity of threads, on every node, and nothing of the moment', async () => {
    const { conversation_id, root_id } = await openRoom()
    const lovelace = await here.signIn('lovelace')
    await ada.participants.add(conversation_id, { user_id: lovelace.id })
    await ada.conversations.rename(conversation_id, { policy: { receipts: 'on' } })
    await ada.messages.reply(root_id, { content: 'to be read' })
    // It was a participant, and follows a thread.
    await grace.conversations.join(conversation_id)
    await grace.threads.follow(root_id)
    await grace.conversations.leave(conversation_id)
    const first = await openStream(here.base_url, conversation_id, { cookie })
    streams.push(first)
    expect((await first.until('stream.ready')).at(-1)!.event.payload).toMatchObject({ presence: false })
    const readers = [await open(here, conversation_id), await open(there, conversation_id)]
    const [member] = [await openStream(here.base_url, conversation_id, await headersOf(here, ada))]
    streams.push(member)
    await member.until('stream.ready')
    await lovelace.presence.setTyping({ conversation_id, seconds: 5 })
    await member.until('typing.update')
    await lovelace.threads.markRead(root_id)
    await member.until('read.update')
    await ada.reactions.add(root_id, '👍')
    const { message_id } = await ada.messages.reply(root_id, { content: 'reply' })
    for (const stream of readers) {
      const events = await stream.until('thread.activity')
      expect(typesOf(events)).toEqual(['reactions.changed', 'message.new', 'thread.activity'])
      expect(events.some(({ event }) => isOf(message_id)(event))).toBe(true)
    }
    const { message_id: last } = await ada.messages.postRoot(conversation_id, { content: 'last' })
    for (const stream of readers)
      expect(typesOf(await stream.until('message.new', isOf(last)))).toEqual(['thread.new', 'message.new'])
  })

  it('sends what was missed, and waits for the next event if it is asked for one', async () => {
    const { conversation_id } = await openRoom()
    const { stream_position } = await grace.conversations.get(conversation_id)
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'missed' })
    const resumed = await open(there, conversation_id, { last_event_id: stream_position })
    await resumed.until('message.new', isOf(message_id))
    const waiting = await open(here, conversation_id, {
      last_event_id: (await grace.conversations.get(conversation_id)).stream_position,
      search: '?once=true&wait_seconds=20',
    })
    await ada.presence.setTyping({ conversation_id, seconds: 5 })
    const { message_id: awaited } = await ada.messages.postRoot(conversation_id, { content: 'awaited' })
    await waiting.until('message.new', isOf(awaited))
    expect((await closed(waiting)).reason).toBe('caught_up')
  })

  it.each([
    ['private', { visibility: 'private', policy: { join: null } }],
    ['listed', { visibility: 'listed' }],
  ] as const)(
    'ends within a second on every node once the room is %s, with nothing that is posted then',
    async (_, change) => {
      const { conversation_id } = await openRoom()
      const readers = [await open(here, conversation_id), await open(there, conversation_id)]
      const own = await openStream(there.base_url, conversation_id, await headersOf(here, ada))
      streams.push(own)
      await ada.conversations.rename(conversation_id, change)
      const began = performance.now()
      const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'among us' })
      const ends = await Promise.all(readers.map(closed))
      expect(performance.now() - began).toBeLessThan(1_000)
      for (const { events, reason } of ends) {
        expect(reason).toBe('removed')
        expect(events.some(({ event }) => isOf(message_id)(event))).toBe(false)
      }
      await own.until('message.new', isOf(message_id))
      const again = await openStream(there.base_url, conversation_id, { cookie })
      expect(again.response.status).toBe(404)
    },
  )

  it('ends for a reader who may browse no longer, is disabled, or whose room is deleted', async () => {
    const { conversation_id } = await openRoom()
    const changes = { blinded: { roles: ['blind'] }, disabled: { disabled: true } }
    for (const [name, change] of Object.entries(changes)) {
      const reader = await here.signIn(name)
      const stream = await open(there, conversation_id, await headersOf(here, reader))
      await ada.users.change(reader.id, change)
      expect((await closed(stream)).reason).toBe(name === 'disabled' ? 'session_ended' : 'removed')
    }
    const stream = await open(there, conversation_id)
    await ada.conversations.remove(conversation_id)
    expect((await closed(stream)).reason).toBe('removed')
  })

  it('ends when the configuration takes the right to browse', async () => {
    const { conversation_id } = await openRoom()
    const stream = await open(here, conversation_id)
    const before = innerState(here).settings.current()
    await here.chat.reload({ ...before, access: { ...before.access, browse: 'admins' } })
    expect((await closed(stream)).reason).toBe('removed')
    await here.chat.reload(before)
  })

  it('goes on for a reader who joins, with all that participants get', async () => {
    const { conversation_id, root_id } = await openRoom()
    const readers = [await open(here, conversation_id), await open(there, conversation_id)]
    await grace.conversations.join(conversation_id)
    for (const stream of readers) await stream.until('membership.changed', isOf(grace.id))
    await ada.presence.setTyping({ conversation_id, root_id, seconds: 5 })
    for (const stream of readers) await stream.until('typing.update')
    await grace.conversations.leave(conversation_id)
    for (const stream of readers) expect((await closed(stream)).reason).toBe('removed')
    await open(there, conversation_id)
  })

  it('is not the stream of all conversations', async () => {
    const { conversation_id } = await openRoom()
    const all = await openStream(here.base_url, undefined, { cookie })
    streams.push(all)
    await all.until('stream.ready')
    await ada.messages.postRoot(conversation_id, { content: 'not for all' })
    const { conversation_id: joined } = await grace.conversations.create({ title: 'Own' })
    const events = await all.until('membership.changed', isOf(joined))
    expect(events.filter(isNews).every(({ event }) => !isOf(conversation_id)(event))).toBe(true)
  })
})
