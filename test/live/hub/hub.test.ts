import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createChatApp } from '../../../lib/http/app.ts'
import { ChatError, openStorage } from '../../../lib/index.ts'
import type { Commit } from '../../../lib/live/transaction/commits.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { placementOf } from '../../support/placement.ts'
import { innerState, type ServiceOptions, startService, type TestService, times } from '../../support/service.ts'
import { followResponse, openStream, type TestStream } from '../../support/stream.ts'
import { holdStorage, looksForChanges, readsHead, readsLog, readsPlaces, readsSessions } from '../held.ts'
import {
  headersOf,
  inTens,
  poll,
  positionOf,
  range,
  seqOf,
  seqsOf,
  soon,
  startReading,
  turns,
  typesOf,
  withSeq,
} from '../readers.ts'

const CONTENT = { content: 'x' }

describeOnEachDatabase('race conditions', (openUrl) => {
  const held = holdStorage()
  const streams: TestStream[] = []
  const more: TestService[] = []
  let url: string
  const shared = setUpService(async () => {
    url = await openUrl()
    return startService(url, { wrap: held.wrap })
  })
  beforeAll(async () => {
    readEverything(shared)
  })
  afterEach(async () => {
    held.reset()
    await Promise.all(streams.splice(0).map((stream) => stream.close()))
    await Promise.all(more.splice(0).map((service) => service.close()))
    await soon(() => expect(innerState(shared).streams.hub.size()).toBe(0))
  })

  async function startOther(options: ServiceOptions): Promise<TestService> {
    const service = await startService(url, options)
    readEverything(service)
    more.push(service)
    return service
  }

  async function start(service = shared) {
    const thread = await startReading(service)
    const open = async (last_event_id?: string, cookie = thread.cookie) => {
      const stream = await openStream(service.base_url, thread.conversation_id, {
        cookie,
        ...(last_event_id !== undefined && { last_event_id }),
      })
      streams.push(stream)
      return stream
    }
    /** A stream that gets live events from now on. */
    const openLive = async (cookie?: string) => {
      const stream = await open(undefined, cookie)
      await stream.until('stream.ready')
      await soon(() => {
        if (innerState(service).streams.hub.size() === 0) throw new Error('not yet')
      })
      await thread.ada.messages.postRoot(thread.conversation_id, CONTENT)
      await stream.until('message.new')
      // The first check for changes of other processes always finds some: it must not help a test.
      await poll(service.chat)
      return stream
    }
    const params = { conversation_id: thread.conversation_id }
    const post = () => thread.ada.messages.postRoot(params.conversation_id, CONTENT)
    const reply = () => thread.ada.messages.reply(thread.root.message_id, CONTENT)
    return { service, ...thread, params, open, openLive, post, reply }
  }

  it('send nothing twice when a page of the log reaches further than the live events', async () => {
    const { ada, conversation_id, open, openLive, reply } = await start()
    const other = await openLive()
    const position = await positionOf(ada, conversation_id)

    // The reader has read nothing yet, and the delivery of the new message to the others has not begun.
    const page = held.hold(readsLog(0), 'before')
    const late = await open(withSeq(position, 0))
    await page.reached
    const delivery = held.hold(readsLog(seqOf(position)), 'before')
    await reply()
    await delivery.reached
    page.release()
    await turns()
    delivery.release()
    await reply()

    const isLast = (id: string | undefined) => id !== undefined && seqOf(id) === seqOf(position) + 2
    for (const [stream, from] of [
      [late, 0],
      [other, seqOf(position)],
    ] as const) {
      const seen = []
      for (let next = await stream.next(); next; next = await stream.next()) {
        seen.push(next)
        if (isLast(next.id) && next.event.type !== 'stream.ready') break
      }
      expect(seqsOf(seen)).toEqual(range(from, seqOf(position) + 2))
    }
  })

  it('repeat a read of the log when an event arrives at its end', async () => {
    const { service, conversation_id, openLive } = await start()
    const stream = await openLive()
    const say = (user_id: string) =>
      innerState(service).streams.hub.publishEphemeral(conversation_id, {
        type: 'presence.update',
        payload: { user_id, status: 'online' },
      })
    for (let moment = 0; moment < 60; moment++) {
      const [first, second] = [innerState(service).id(), innerState(service).id()]
      say(first)
      for (let i = 0; i < moment; i++) await null
      say(second)
      await stream.until('presence.update', (event) => (event.payload as { user_id: string }).user_id === second)
    }
  })

  it('send the events about a message after the message', async () => {
    const { ada, conversation_id, openLive, reply } = await start()
    const stream = await openLive()
    const seq = seqOf(await positionOf(ada, conversation_id))
    // A read that ran before the reply was in the log, and returns afterwards.
    const look = held.hold(readsLog(seq), 'after')
    const told = stream.until('thread.activity')
    await Promise.all([
      reply(),
      look.reached.then(async () => {
        await reply()
        look.release()
      }),
    ])
    expect(typesOf(await told)).toEqual(['message.new', 'thread.activity'])
    expect(typesOf(await stream.until('thread.activity'))).toEqual(['message.new', 'thread.activity'])
  })

  it('send unread counts after the messages they count', async () => {
    const { ada, grace, conversation_id, root, params, graces_cookie, openLive } = await start()
    const other = await openLive()
    const stream = await openLive(graces_cookie)
    await other.until('message.new')
    const look = held.hold(readsLog(seqOf(await positionOf(ada, conversation_id))), 'before')
    const { message } = await ada.messages.reply(root.message_id, CONTENT)
    await look.reached
    await grace.threads.markRead(root.root_id, {})
    await turns()
    look.release()
    const seen = await stream.until('unread.update')
    expect(typesOf(seen)).toEqual(['message.new', 'thread.activity', 'unread.update'])
    const { created_at: last_reply_at, author_user_id } = message
    const thread = { root_id: root.root_id, reply_count: 1, last_reply_at, last_replier_ids: [author_user_id] }
    expect(seen.find(({ id }) => id)!.event.payload).toEqual({ message, thread })
    const counts = {
      unread: 0,
      unread_replies: 0,
      conversation_unread: 2,
      conversation_unread_replies: 0,
      as_of: expect.any(String),
    }
    expect(seen.at(-1)).toEqual({
      event: { type: 'unread.update', payload: { ...params, root_id: root.root_id, ...counts } },
    })
    // The place stays free.
    await ada.messages.postRoot(params.conversation_id, CONTENT)
    expect(typesOf(await other.until('thread.new'))).toEqual(['message.new', 'thread.activity', 'thread.new'])
  })

  it('deliver after a storage failure without waiting for the next message', async () => {
    const { service, openLive, reply } = await start()
    const stream = await openLive()
    const mend = held.fail(readsLog(), new ChatError('unavailable'))
    const { message_id } = await reply()
    await turns()
    mend()
    await poll(service.chat)
    const seen = await stream.until('message.new')
    expect(seen.at(-1)!.event.payload).toMatchObject({ message: { id: message_id } })
  })

  it('end a stream after a storage failure if its session has ended meanwhile', async () => {
    const { service, ada, openLive } = await start()
    const headers = await headersOf(service, ada)
    const stream = await openLive(headers.cookie)
    const mend = held.fail(readsSessions, new ChatError('unavailable'))
    await fetch(`${service.base_url}/api/auth/logout`, { method: 'POST', headers })
    await turns()
    mend()
    await poll(service.chat)
    const closed = await stream.until('stream.closed')
    expect(closed.at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
  })

  it('recover after a storage failure, also without readers', async () => {
    const { service, openLive } = await start()
    const stream = await openLive()
    const mend = held.fail(looksForChanges, new ChatError('unavailable'))
    await poll(service.chat)
    await soon(() => expect(innerState(service).streams.poller.isLate()).toBe(true))
    await stream.close()
    await soon(() => expect(innerState(service).streams.hub.size()).toBe(0))
    mend()
    await soon(() => expect(innerState(service).streams.poller.isLate()).toBe(false))
  })

  it('keep no place for a client that disconnects before its stream begins', async () => {
    const { service, conversation_id, cookie, ada } = await start()
    const visits = held.hold((sql) => /FROM participants p JOIN .*\s+WHERE p\.conversation_id = \?/.test(sql), 'after')
    const gone = once(service.server, 'connection').then(([socket]) => once(socket as Socket, 'close'))
    const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
    socket.write(`GET /api/stream/conversations/${conversation_id} HTTP/1.1\r\nhost: x\r\ncookie: ${cookie}\r\n\r\n`)
    await visits.reached
    socket.destroy()
    await gone
    visits.release()
    await turns()
    expect(innerState(service).streams.hub.size()).toBe(0)
    expect(innerState(service).streams.hub.countStreams(ada.id)).toBe(0)
  })

  it('send nothing to a reader who loses the right to it while connecting', async () => {
    const { service, ada, grace, params, conversation_id, graces_cookie } = await start()
    const visit = held.hold((sql) => /FROM participants p JOIN .*\s+WHERE p\.conversation_id = \?/.test(sql), 'after')
    const opening = openStream(service.base_url, conversation_id, { cookie: graces_cookie })
    await visit.reached
    await ada.participants.remove(params.conversation_id, grace.id)
    visit.release()
    const stream = await opening
    expect(await stream.next()).toEqual({ event: { type: 'stream.closed', payload: { reason: 'removed' } } })
    expect(await stream.next()).toBeUndefined()
  })

  it('send nothing after closing a stream that was still replaying', async () => {
    const { service, ada, conversation_id } = await start()
    const position = await positionOf(ada, conversation_id)
    const { chat } = service
    const { session } = await chat.auth.login({}, { email: ada.email, password: 'correct horse battery' })
    const actor = { user_id: ada.id, roles: ['member' as const], session_id: session.id }
    const page = held.hold(readsLog(0), 'after')
    const stream = chat.events.follow(actor, conversation_id, { last_event_id: withSeq(position, 0) })
    const first = await stream.next()
    await page.reached
    await chat.auth.logout(actor)
    await soon(() => expect(innerState(chat).streams.hub.size()).toBe(0))
    page.release()
    await turns()
    const seen = [first.value!]
    for await (const delivered of stream) seen.push(delivered)
    expect(typesOf(seen)).toEqual(['stream.ready', 'stream.closed'])
  })

  it('accept no stream between draining and connecting', async () => {
    const { service, ada, conversation_id } = await start(await startOther({}))
    const { chat } = service
    const actor = await chat.users.actor(ada.id)
    const opening = await chat.events.open(actor, conversation_id, {})
    chat.drain()
    const told: string[] = []
    const ended = new Promise<void>((resolve) => {
      opening.connect({
        write: ({ events }) => void told.push(...events.map(({ event }) => JSON.stringify(event))),
        pending: () => 0,
        drained: () => Promise.resolve(),
        end: resolve,
      })
    })
    await ended
    expect(told).toEqual([JSON.stringify({ type: 'stream.closed', payload: { reason: 'draining' } })])
    expect(innerState(chat).streams.hub.size()).toBe(0)
  })

  it('close at any point, leaving nothing behind', async () => {
    const bugs: string[] = []
    const log = { debug() {}, info() {}, warn() {}, error: (message: string) => void bugs.push(message) }
    const service = await startOther({ ports: { log } })
    const { ada, conversation_id } = await start(service)
    const { chat } = service
    const actor = await chat.users.actor(ada.id)
    const reading = times(10, async (i) => {
      // Some are reading, some are still connecting.
      await turns(i)
      const seen: string[] = []
      for await (const { event } of chat.events.follow(actor, conversation_id)) seen.push(event.type)
      return seen
    })
    const posts = times(20, (i) => chat.messages.postRoot(actor, conversation_id, { content: `${i}` }))
    const ends = Promise.allSettled([...reading, ...posts])
    await turns(5)
    await chat.close()
    expect(innerState(chat).streams.hub.size()).toBe(0)
    for (const end of await ends) {
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'unavailable' })
      else if (Array.isArray(end.value)) expect(end.value.at(-1)).toBe('stream.closed')
    }
    await turns()
    expect(bugs).toEqual([])
  })

  it('end the streams of readers of a deleted conversation, whenever it is deleted', async () => {
    const { service, ada, conversation_id, open, openLive } = await start()
    const position = await positionOf(ada, conversation_id)
    const live = await openLive()
    const behind = held.hold(readsLog(0), 'before')
    const reading = await open(withSeq(position, 0))
    await behind.reached
    const beginning = held.hold(readsHead, 'before')
    const starting = await open()
    await beginning.reached

    const elsewhere = await openStorage({ database: url, ...placementOf(url) })
    await elsewhere.db.run(sql`DELETE FROM conversations WHERE id = ${conversation_id}`)
    await elsewhere.close()
    behind.release()
    beginning.release()
    await poll(service.chat)
    for (const stream of [live, reading, starting]) {
      const seen = await stream.until('stream.closed')
      expect(seen.at(-1)!.event.payload).toEqual({ reason: 'removed' })
      expect(await stream.next()).toBeUndefined()
    }
  })

  it('send a removed participant the removal and no later event', async () => {
    const { service, ada, grace, conversation_id, params, graces_cookie, openLive, post } = await start()
    const stream = await openLive(graces_cookie)
    const position = await positionOf(ada, conversation_id)
    // Nothing is delivered until all of it is in the log: then one read returns the removal and what came after.
    const look = held.hold(readsLog(seqOf(position)), 'before')
    await ada.participants.remove(params.conversation_id, grace.id)
    await post()
    look.release()
    const seen = await stream.until('stream.closed')
    expect(typesOf(seen)).toEqual(['membership.changed', 'stream.closed'])
    expect(seen.find(({ id }) => id)).toMatchObject({
      id: withSeq(position, seqOf(position) + 1),
      event: { payload: { user_id: grace.id, action: 'removed' } },
    })
    expect(seen.at(-1)!.event.payload).toEqual({ reason: 'removed' })
    expect(innerState(service).streams.hub.countStreams(grace.id)).toBe(0)
  })

  it.each([
    ['before it reads the first page', readsLog(0), 'before'],
    ['when its right to read has just been looked up', readsPlaces, 'after'],
  ] as const)('send a replaying reader nothing that happened after its removal, %s', async (_, which, when) => {
    const { service, ada, grace, conversation_id, params, graces_cookie, open, post } = await start()
    // What looks up rights from time to time must not be what is held.
    const { poller } = innerState(service).streams
    await poller.stop()
    onTestFinished(() => poller.start())
    // A removal that is undone is part of the past, and ends nothing.
    await ada.participants.remove(params.conversation_id, grace.id)
    await ada.participants.add(params.conversation_id, { user_id: grace.id })
    const position = await positionOf(ada, conversation_id)
    const reading = held.hold(which, when)
    const stream = await open(withSeq(position, 0), graces_cookie)
    await reading.reached
    // Held reads keep the known rights from becoming newer: the delivery must not wait for them, however slow this is.
    innerState(service).streams.hub.rights.knownAt(performance.now() + 60_000)
    const recheck = held.hold(readsSessions, 'before')
    await ada.participants.remove(params.conversation_id, grace.id)
    await post()
    await recheck.reached
    reading.release()
    await soon(() => expect(innerState(service).streams.hub.countStreams(grace.id)).toBe(0))
    recheck.release()
    const seen = await stream.until('stream.closed')
    expect(seqsOf(seen)).toEqual(range(0, seqOf(position) + 1))
  })

  it('close a replaying reader whose next events have expired, and reset it when it reconnects', async () => {
    const { ada, conversation_id, open } = await start()
    const position = await positionOf(ada, conversation_id)
    const page = held.hold(readsLog(0), 'before')
    const stream = await open(withSeq(position, 0))
    await page.reached
    const elsewhere = await openStorage({ database: url, ...placementOf(url) })
    await elsewhere.db.run(sql`DELETE FROM events WHERE conversation_id = ${conversation_id} AND seq <= 2`)
    await elsewhere.close()
    page.release()
    const seen = await stream.until('stream.closed')
    expect(typesOf(seen)).toEqual(['stream.ready', 'stream.closed'])
    const again = await open(seen[0]!.id)
    const told = await again.until('stream.reset')
    expect(told.map(({ event }) => event.payload)).toMatchObject([
      { resumed: false, last_event_id: position },
      { reason: 'expired', last_event_id: position },
    ])
  })

  it('continue after any number of expired events, for readers who missed them and for those who did not', async () => {
    const { service, ada, conversation_id, root, open, openLive, post } = await start()
    const live = await openLive()
    const position = await positionOf(ada, conversation_id)
    const look = held.hold(readsLog(seqOf(position)), 'before')
    const actor = await service.chat.users.actor(ada.id)
    await inTens(150, (i) => service.chat.messages.reply(actor, root.message_id, { content: `${i}` }))
    const { db } = innerState(service)
    await db.run(sql`DELETE FROM messages WHERE root_id = ${root.root_id} AND depth = 1`)
    look.release()
    const { message } = await post()
    for (const stream of [live, await open(position)]) {
      const seen = await stream.until('message.new')
      expect(typesOf(seen.filter(({ id }) => id)).slice(-2)).toEqual(['thread.new', 'message.new'])
      expect(seen.at(-1)).toMatchObject({
        id: withSeq(position, seqOf(position) + 152),
        event: { payload: { message } },
      })
    }
  })

  it('buffer little for a replaying reader that reads nothing', async () => {
    const { service, ada, conversation_id } = await start(
      await startOther({ config: { sse: { max_buffer_bytes: 100_000 } } }),
    )
    const position = await positionOf(ada, conversation_id)
    const body = { content: 'x'.repeat(60_000) }
    for (let i = 0; i < 10; i++) await ada.messages.postRoot(conversation_id, body)
    const opening = await service.chat.events.open(await service.chat.users.actor(ada.id), conversation_id, {
      last_event_id: position,
    })
    let bytes = 0
    let stopped = () => {}
    const full = new Promise<void>((resolve) => (stopped = resolve))
    const leave = opening.connect({
      write(delivery) {
        bytes += delivery.bytes.length
      },
      pending: () => bytes,
      drained: () => new Promise(stopped),
      end: () => {},
    })
    await full
    await ada.messages.postRoot(conversation_id, body)
    await turns()
    expect(bytes).toBeGreaterThan(100_000)
    expect(bytes).toBeLessThan(200_000)
    leave()
  })

  it('follow no log without readers, on either path', async () => {
    const { service, ada, conversation_id, post, openLive } = await start()
    const app = createChatApp(service.chat)
    const headers = await headersOf(service, ada)
    const request = new Request(`http://x/api/stream/conversations/${conversation_id}`, { headers })
    const web = followResponse(await app.fetch(request))
    await web.until('stream.ready')
    const node = await openLive(headers.cookie)
    await fetch(`${service.base_url}/api/auth/logout`, { method: 'POST', headers })
    await web.until('stream.closed')
    await node.until('stream.closed')
    expect(await node.next()).toBeUndefined()
    await soon(() => expect(innerState(service).streams.hub.size()).toBe(0))
    await turns()
    const before = held.count(readsLog())
    await post()
    await turns()
    expect(held.count(readsLog())).toBe(before)
  })

  it('open a stream after one that failed to start because of the storage', async () => {
    const { service, ada, conversation_id } = await start()
    const app = createChatApp(service.chat)
    const { cookie } = await headersOf(service, ada)
    const ask = () =>
      app.fetch(new Request(`http://x/api/stream/conversations/${conversation_id}`, { headers: { cookie } }))
    const mend = held.fail(readsHead, new ChatError('unavailable'))
    const failed = followResponse(await ask())
    expect(await failed.next()).toBeUndefined()
    mend()
    const stream = followResponse(await ask())
    streams.push(stream)
    expect(typesOf(await stream.until('stream.ready'))).toEqual(['stream.ready'])
  })

  it('free a place at once when a stalled reader is disconnected', async () => {
    const { service, ada, conversation_id, post } = await start()
    const position = await positionOf(ada, conversation_id)
    await inTens(60, () => ada.messages.postRoot(conversation_id, { content: 'x'.repeat(60_000) }))
    const headers = await headersOf(service, ada)
    const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
    socket.pause()
    socket.write(
      `GET /api/stream/conversations/${conversation_id} HTTP/1.1\r\nhost: x\r\ncookie: ${headers.cookie}\r\nlast-event-id: ${withSeq(position, 0)}\r\n\r\n`,
    )
    await soon(() => expect(innerState(service).streams.hub.countStreams(ada.id)).toBe(1))
    await post()
    await fetch(`${service.base_url}/api/auth/logout`, { method: 'POST', headers })
    await soon(() => expect(innerState(service).streams.hub.countStreams(ada.id)).toBe(0))
    socket.destroy()
  })
})

/** Makes the hub read the log for every event, as it does for those of other processes, where the races are. */
function readEverything({ chat }: TestService): void {
  const { commits } = innerState(chat)
  const { publish } = commits
  Object.assign(commits, {
    publish: (commit: Commit) =>
      publish({ ...commit, rows: [], conversations: new Map([...commit.conversations.keys()].map((id) => [id, []])) }),
  })
}
