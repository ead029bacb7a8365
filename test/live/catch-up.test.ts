import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../lib/core/actor.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState, startService, type TestService, times } from '../support/service.ts'
import { holdStorage, readsLog, type Which } from './held.ts'
import { turns } from './readers.ts'

/** More than the logs that are read at the same time. */
const ROOMS = 20

describeOnEachDatabase('streams of many conversations that another node posts to', (openUrl) => {
  const held = holdStorage()
  const nodes: TestService[] = []
  let ada: Actor
  let rooms: string[]
  let streams: { room: string; next: () => Promise<string> }[]
  beforeAll(async () => {
    const url = await openUrl()
    // Presence is published in all conversations at once, at a moment of its own.
    const config = { presence: { broadcast_participants: 0 } }
    for (const options of [{ wrap: held.wrap }, {}]) nodes.push(await startService(url, { ...options, config }))
    const { chat, signIn } = nodes[0]!
    ada = await chat.users.actor((await signIn('ada')).id)
    rooms = await Promise.all(times(ROOMS, async () => (await chat.conversations.create(ada)).conversation_id))
    streams = await Promise.all(rooms.map(follow))
    // A stream that was sent a new message is live.
    await Promise.all(rooms.map((room) => post(0, room, 'first')))
    await Promise.all(streams.map(({ next }) => next()))
    // Only the tests poll. The first poll reads everything.
    const { cluster } = innerState(chat)
    const { poller } = innerState(chat).streams
    await cluster.stop()
    await poller.stop()
    await poller.poll()
  })
  afterEach(() => held.reset())
  afterAll(() => Promise.all(nodes.map((node) => node.close())))

  const post = (node: number, room: string, content: string) =>
    nodes[node]!.chat.messages.postRoot(ada, room, { content })

  /** A stream of the first node; `next` returns its next message. */
  async function follow(room: string) {
    const stream = nodes[0]!.chat.events.follow(ada, room)
    await stream.next()
    async function next(): Promise<string> {
      for (;;) {
        const { value } = await stream.next()
        if (value?.event.type === 'message.new') return value.event.payload.message.content
        if (!value) throw new Error('The stream has ended')
      }
    }
    return { room, next }
  }

  it('get them also while the log of one cannot be read', async () => {
    let hanging: string | undefined
    const readsFirst: Which = (sql, params) => {
      if (!readsLog()(sql, params)) return false
      hanging ??= String(params[0])
      return params[0] === hanging
    }
    const hang = held.hold(readsFirst, 'before')
    await Promise.all(rooms.map((room) => post(1, room, 'second')))
    const polled = innerState(nodes[0]!).streams.poller.poll()
    await hang.reached
    const others = streams.filter(({ room }) => room !== hanging)
    expect(await Promise.all(others.map(({ next }) => next()))).toEqual(times(ROOMS - 1, () => 'second'))
    hang.release()
    expect(await streams.find(({ room }) => room === hanging)!.next()).toBe('second')
    await polled
  })

  it('leave connections to requests while their logs are read', async () => {
    const before = held.count(readsLog())
    const reads = held.hold(readsLog(), 'before')
    await Promise.all(rooms.map((room) => post(1, room, 'third')))
    const polled = innerState(nodes[0]!).streams.poller.poll()
    await reads.reached
    await turns()
    expect(held.count(readsLog()) - before).toBe(8)
    reads.release()
    expect(await Promise.all(streams.map(({ next }) => next()))).toEqual(times(ROOMS, () => 'third'))
    await polled
  })
})
