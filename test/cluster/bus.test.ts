import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import type { Bus } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { createTestBus } from '../support/bus.ts'
import { copyPostgresDatabase } from '../support/databases.ts'
import { innerState, PASSWORD, type Person, startService, type TestService } from '../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../support/stream.ts'

/** A log that keeps the warnings and errors about the bus. */
function createLog() {
  const lines: string[] = []
  const keep = (message: string) => void (message.includes('bus') && lines.push(message))
  return { lines, debug() {}, info() {}, warn: keep, error: keep }
}

/** Two processes on one database, and two users who share a conversation. */
async function startNodes(url: string, buses: [Bus, Bus], config: object = {}) {
  const logs = [createLog(), createLog()] as const
  const start = (i: 0 | 1) =>
    startService(url, {
      config: { session: { max_sessions_per_user: 50 }, ...config },
      ports: { bus: buses[i], log: logs[i] },
    })
  const here = await start(0)
  const there = await start(1)
  const ada = await here.signIn('ada')
  const grace = await here.signIn('grace')
  const { conversation_id } = await ada.conversations.create()
  await ada.participants.add(conversation_id, { user_id: grace.id })
  const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'first' })
  // Alone, a process sends nothing.
  await vi.waitUntil(() => [here, there].every(({ chat }) => !innerState(chat).cluster.isSingleNode()), {
    timeout: 30_000,
  })
  return { here, there, ada, grace, conversation_id, root_id, logs }
}

async function follow(node: TestService, person: Person, id?: string): Promise<TestStream> {
  const { cookie } = await signInByHand(node.base_url, person.email, PASSWORD)
  const stream = await openStream(node.base_url, id, { cookie })
  await stream.until('stream.ready')
  return stream
}

describe.skipIf(!inject('postgres_url'))('two processes with a bus', () => {
  let database: Awaited<ReturnType<typeof copyPostgresDatabase>>
  let nodes: Awaited<ReturnType<typeof startNodes>>
  const bus = createTestBus()
  const ports = [bus.connect(), bus.connect()] as const
  const streams: TestStream[] = []
  beforeAll(async () => {
    database = await copyPostgresDatabase()
    nodes = await startNodes(database.url, [...ports])
    // From now on it learns of commits by the bus alone.
    await innerState(nodes.there).streams.poller.stop()
  })
  afterEach(() => Promise.all(streams.splice(0).map((stream) => stream.close())))
  afterAll(async () => {
    await Promise.all([nodes.here.close(), nodes.there.close()])
    await database.remove()
  })

  it('deliver what is committed, and ephemeral events after it', async () => {
    const { there, ada, grace, conversation_id, root_id } = nodes
    const [one, all] = [await follow(there, grace, conversation_id), await follow(there, grace)]
    streams.push(one, all)
    for (const stream of [one, all]) {
      await ada.messages.postRoot(conversation_id, { content: 'second' })
      await stream.until('message.new', ({ payload }) => JSON.stringify(payload).includes('second'))
    }
    await ada.messages.reply(root_id, { content: 'third' })
    for (const stream of [one, all]) {
      const seen = await stream.until('thread.activity')
      expect(JSON.stringify(seen)).toContain('third')
    }
    await ada.presence.setTyping({ conversation_id })
    for (const stream of [one, all]) await stream.until('typing.update')
    await grace.threads.markRead(root_id, {})
    for (const stream of [one, all]) await stream.until('unread.update')
    await ada.presence.sendHeartbeat({ status: 'away' })
    for (const stream of [one, all])
      await stream.until('presence.update', ({ payload }) => JSON.stringify(payload).includes('away'))
    const stored = await innerState(there).db.all<{ body: string }>(sql`SELECT body FROM signals`)
    expect(stored.flatMap(({ body }) => JSON.parse(body).events)).toEqual([])
  })

  it('end the streams of a participant who was removed at the other', async () => {
    const { there, ada, grace, conversation_id } = nodes
    const stream = await follow(there, grace, conversation_id)
    streams.push(stream)
    await ada.participants.remove(conversation_id, grace.id)
    await stream.until('stream.closed')
    await ada.participants.add(conversation_id, { user_id: grace.id })
  })

  it('publish nothing while they are alone', async () => {
    const alone = await copyPostgresDatabase()
    const single = createTestBus()
    const service = await startService(alone.url, { ports: { bus: single.connect() } })
    await (await service.signIn('ada')).conversations.create()
    await service.close()
    await alone.remove()
    expect(single.published).toEqual([])
  })

  it('ignore what is not from a process with the same database, also in the right format', async () => {
    const { here, there, ada, grace, conversation_id, logs } = nodes
    const stream = await follow(there, grace, conversation_id)
    streams.push(stream)
    const payload = { conversation_id, user_id: ada.id, expires_at: new Date().toISOString() }
    const event = { conversation_id, event: { type: 'typing.update', payload } }
    const send = (sender: string, signal: object | string) =>
      bus.deliver(
        new TextEncoder().encode(
          `chat-server 1 ${sender} ${typeof signal === 'string' ? signal : JSON.stringify(signal)}`,
        ),
      )
    const { id } = innerState(here).cluster
    send('01890000-0000-7000-8000-000000000000', { events: [event], user_ids: [] })
    // Of a later version: what is unknown is left out.
    send(id, { events: [{ conversation_id, event: { type: 'later', payload } }], user_ids: [] })
    expect(logs[1].lines).toEqual([])
    send(id, '{')
    send(id, { events: 1 })
    send(id, { events: [null], user_ids: [] })
    send(id, { events: [], user_ids: [1] })
    bus.deliver(new Uint8Array(2_000_000))
    bus.deliver(new Uint8Array())
    bus.deliver('text' as never)
    await ada.messages.postRoot(conversation_id, { content: 'afterwards' })
    const seen = await stream.until('message.new')
    expect(seen.map((each) => each.event.type)).not.toContain('typing.update')
    expect(logs[1].lines).toEqual(['A message on the bus is not one of this service'])
    const page = await (await fetch(`${there.base_url}/metrics`)).text()
    expect(page).toMatch(/^chat_signals_dropped_total 8$/m)
  })

  it('close it with the service', async () => {
    const port = createTestBus().connect()
    const service = await startService(database.url, { ports: { bus: port } })
    expect(port.isClosed()).toBe(false)
    await service.close()
    expect(port.isClosed()).toBe(true)
  })
})

const never = () => new Promise<never>(() => {})
const fails = () => {
  throw new Error('The bus is down')
}
const rejects = async () => fails()

const FAILURES: Record<string, [Bus, ...lines: RegExp[]]> = {
  'throws when it publishes': [{ publish: fails, subscribe() {}, close() {} }, /publish/],
  'rejects when it publishes': [{ publish: rejects, subscribe() {}, close() {} }, /publish/],
  'never ends a call of publish': [{ publish: never, subscribe() {}, close() {} }, /publish/],
  'loses all messages': [{ publish() {}, subscribe() {}, close() {} }],
  'throws when it subscribes': [{ publish() {}, subscribe: fails, close() {} }, /subscribe/],
  'rejects whatever it is asked': [{ publish: rejects, subscribe: rejects, close: rejects }, /subscribe/, /publish/],
  'never ends any call': [{ publish: never, subscribe: never, close: never }, /subscribe/, /publish/],
}

describe.skipIf(!inject('postgres_url')).each(Object.entries(FAILURES))('a bus that %s', (_, [bus, ...expected]) => {
  it('harms nothing: events arrive with the polls, and the log has a line', async () => {
    const database = await copyPostgresDatabase()
    const nodes = await startNodes(database.url, [bus, bus], { cluster: { beat_seconds: 1 } })
    const { here, there, ada, grace, conversation_id, logs } = nodes
    const stream = await follow(there, grace, conversation_id)
    for (const content of ['second', 'third']) {
      await ada.messages.postRoot(conversation_id, { content })
      await stream.until('message.new', ({ payload }) => JSON.stringify(payload).includes(content))
    }
    const isLost = expected.length === 0 || !/publish/.test(String(expected))
    // Those of which the service knows that they were not sent go through the database.
    for (let i = 0; i < 2 && !isLost; i++) {
      await ada.presence.setTyping({ conversation_id })
      await stream.until('typing.update')
    }
    // In any case: it would stay as it is.
    await ada.presence.sendHeartbeat({ status: 'away' })
    await stream.until('presence.update', ({ payload }) => JSON.stringify(payload).includes('away'))
    await expect.poll(() => logs[0].lines).toEqual(expected.map((each) => expect.stringMatching(each)))
    await stream.close()
    await Promise.all([here.close(), there.close()])
    await database.remove()
  })
})

describe.skipIf(!inject('postgres_url'))('a bus that is down at the start', () => {
  it('is subscribed to as soon as it works', async () => {
    const database = await copyPostgresDatabase()
    const bus = createTestBus()
    const port = bus.connect()
    let attempts = 0
    const late: Bus = {
      ...port,
      subscribe: (listener) => (++attempts < 2 ? fails() : port.subscribe(listener)),
    }
    const nodes = await startNodes(database.url, [bus.connect(), late], { cluster: { beat_seconds: 1 } })
    const { here, there, ada, grace, conversation_id } = nodes
    const stream = await follow(there, grace, conversation_id)
    await expect.poll(() => attempts, { timeout: 30_000 }).toBe(2)
    await innerState(there).streams.poller.stop()
    await ada.messages.postRoot(conversation_id, { content: 'second' })
    await stream.until('message.new')
    await stream.close()
    await Promise.all([here.close(), there.close()])
    await database.remove()
    expect(attempts).toBe(2)
  })
})
