import { expect, it, onTestFinished } from 'vitest'
import { createReceiver, type PullClient, type PulledPage, type PullQuery } from '../../lib/receive/index.ts'
import { createSqliteFile, describeOnEachDatabase, describeOnEachEmptyDatabase } from '../support/databases.ts'
import { startService } from '../support/service.ts'
import { callOf, eventOf, openStore, SECRET, type TestStore } from './stores.ts'

/** A feed of the events 1 to `last`; positions are their numbers. */
function feedOf(last: number, between: (query: PullQuery) => void = () => {}): PullClient & { queries: PullQuery[] } {
  const queries: PullQuery[] = []
  async function read(query: PullQuery): Promise<PulledPage> {
    queries.push(query)
    between(query)
    const after = query.after === undefined ? last : Number(query.after)
    const events = Array.from({ length: Math.min(3, last - after) }, (_, n) => eventOf(after + n + 1))
    return { events, position: String(after + events.length), ...(after + events.length < last && { more: true }) }
  }
  return { queries, feed: { read } }
}

const idsOf = (last: number) => Array.from({ length: last }, (_, n) => eventOf(n + 1).id)

describeOnEachEmptyDatabase('a receiver that pulls', (openUrl) => {
  async function open(): Promise<TestStore> {
    const opened = await openStore(await openUrl())
    onTestFinished(() => opened.close())
    return opened
  }

  /** Pulls until the effects are these. */
  async function pullUntil(opened: TestStore, client: PullClient, expected: string[]): Promise<void> {
    const ending = new AbortController()
    const receiver = createReceiver({ store: opened.store, source: 'crm', secrets: SECRET, effect: opened.write })
    const pulled = receiver.pull(client, { from: '0', signal: ending.signal, types: ['message.*', 'pin.changed'] })
    await expect.poll(() => Promise.race([opened.effects(), pulled])).toEqual(expected)
    ending.abort()
    await pulled
  }

  it('asks for types of a list as for those of a text', async () => {
    const { store, write } = await open()
    const receiver = createReceiver({ store, source: 'crm', secrets: SECRET, effect: write })
    for (const types of [['message.*', 'pin.changed'], 'message.*,pin.changed']) {
      const ending = new AbortController()
      const client = feedOf(0, () => ending.abort())
      await receiver.pull(client, { types, from: '0', signal: ending.signal })
      expect(client.queries).toMatchObject([{ types: 'message.*,pin.changed' }])
    }
  })

  it('applies each event in order, and goes on where it stopped', async () => {
    const opened = await open()
    await pullUntil(opened, feedOf(8), idsOf(8))
    const later = feedOf(10)
    await pullUntil(opened, later, idsOf(10))
    expect(later.queries[0]).toMatchObject({ after: '8', types: 'message.*,pin.changed' })
  })

  it('repeats through outages of the service, and waits no longer than it is asked to', async () => {
    const opened = await open()
    const failures: unknown[] = [
      new TypeError('fetch failed'),
      Object.assign(new Error(), { code: 'unavailable', retry_after_seconds: 0.1 }),
      Object.assign(new Error(), { code: 'too_many_streams' }),
    ]
    const client = feedOf(5, () => {
      const failure = failures.pop()
      if (failure) throw failure
    })
    await pullUntil(opened, client, idsOf(5))
    expect(failures).toEqual([])
  })

  it('ends with a refusal of the service and with what an effect throws', async () => {
    const { store, write, effects } = await open()
    const refused = feedOf(5, () => {
      throw Object.assign(new Error('no'), { code: 'unauthenticated' })
    })
    const receiver = createReceiver({ store, source: 'crm', effect: write })
    await expect(receiver.pull(refused)).rejects.toMatchObject({ code: 'unauthenticated' })
    const effect = (tx: unknown, event: { id: string }) => {
      if (event.id === eventOf(5).id) throw new TypeError('undefined is not a function')
      return write(tx, event)
    }
    const failing = createReceiver({ store, source: 'crm', effect })
    await expect(failing.pull(feedOf(5), { from: '0' })).rejects.toThrow('undefined is not a function')
    expect(await effects()).toEqual(idsOf(3))
    expect(await store.positions('crm')).toEqual({ pulled: '3' })
  })

  it('begins now without a position, and stores it before the first event', async () => {
    const { store, write } = await open()
    const ending = new AbortController()
    const pulled = createReceiver({ store, source: 'crm', effect: write }).pull(feedOf(7), { signal: ending.signal })
    await expect.poll(() => store.positions('crm')).toEqual({ pulled: '7' })
    ending.abort()
    await pulled
  })

  it('calls reset in one transaction with the position, and ends without one', async () => {
    const { store, write, effects } = await open()
    let isLost = true
    const client = feedOf(5)
    const losing: PullClient = {
      feed: {
        read: async (query, options) =>
          isLost ? { events: [], position: '2', reset: { reason: 'expired' } } : client.feed.read(query, options),
      },
    }
    const without = createReceiver({ store, source: 'crm', effect: write })
    await expect(without.pull(losing)).rejects.toMatchObject({ code: 'reset_required' })
    const ending = new AbortController()
    const receiver = createReceiver({
      ...{ store, source: 'crm', effect: write },
      reset: (tx, { reason, position }) => {
        isLost = false
        return write(tx, { id: `${reason} ${position}` })
      },
    })
    const pulled = receiver.pull(losing, { signal: ending.signal })
    const expected = ['expired 2', ...idsOf(5).slice(2)]
    await expect.poll(() => Promise.race([effects(), pulled])).toEqual(expected)
    ending.abort()
    await pulled
  })

  it('shares the events with another process and with webhooks: each is applied once', async () => {
    const opened = await open()
    const other = await opened.other()
    onTestFinished(() => other.close())
    const ending = new AbortController()
    const receivers = [opened, other].map(({ store, write }) =>
      createReceiver({ store, source: 'crm', secrets: SECRET, effect: write }),
    )
    const pulled = receivers.map((receiver) => receiver.pull(feedOf(60), { from: '0', signal: ending.signal }))
    const pushes = idsOf(60).map((_, n) => receivers[n % 2]!.fetch(callOf(eventOf(n + 1))))
    expect((await Promise.all(pushes)).map(({ status }) => status)).toEqual(idsOf(60).map(() => 200))
    await expect.poll(() => opened.store.positions('crm')).toEqual({ pulled: '60' })
    expect((await opened.effects()).sort()).toEqual(idsOf(60))
    ending.abort()
    await Promise.all(pulled)
  })
})

describeOnEachDatabase('a receiver that pulls from a service', (openUrl) => {
  it('applies every event of the conversations of its user, each once and in order', async () => {
    const service = await startService(await openUrl())
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const { conversation } = await ada.conversations.create({ title: 'Work' })
    const file = await createSqliteFile()
    onTestFinished(() => file.remove())
    const opened = await openStore(file.url)
    onTestFinished(() => opened.close())
    const ending = new AbortController()
    const texts: string[] = []
    const receiver = createReceiver({
      ...{ store: opened.store, source: 'chat' },
      effect: (_tx, event) => {
        if (event.type === 'message.new' && 'message' in event.data) texts.push(event.data.message.content)
      },
    })
    const pulled = receiver.pull(ada, { types: ['message.new'], signal: ending.signal })
    await expect.poll(async () => (await opened.store.positions('chat')).pulled).toBeDefined()
    const contents = Array.from({ length: 5 }, (_, n) => `message ${n}`)
    for (const content of contents) await ada.messages.postRoot(conversation.id, { content })
    await expect.poll(() => Promise.race([texts, pulled])).toEqual(contents)
    ending.abort()
    await pulled
  })
})
