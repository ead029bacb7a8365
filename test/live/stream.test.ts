import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { ConversationStreamEvent, ReceivedEvent } from '../../lib/client/index.ts'
import { createChatApp } from '../../lib/http/app.ts'
import { sql } from '../../lib/storage/sql.ts'
import { checkedFetch } from '../support/answers.ts'
import { describeService } from '../support/describe-service.ts'
import { innerState } from '../support/service.ts'
import { openStream, type TestStream } from '../support/stream.ts'
import {
  inTens,
  isNews,
  positionOf,
  range,
  readAnew,
  seqOf,
  seqsOf,
  soon,
  startReading,
  turns,
  typesOf,
  withSeq,
} from './readers.ts'

const STREAMS = 3

describeService('a stream', { config: { sse: { max_streams_per_user: STREAMS } } }, (service) => {
  let reading: Awaited<ReturnType<typeof startReading>>
  let params: { conversation_id: string }
  const streams: TestStream[] = []
  beforeAll(async () => {
    reading = await startReading(service)
  })
  // A conversation of its own for each test; its people are the same.
  async function begin() {
    reading = await readAnew(reading)
    params = { conversation_id: reading.conversation_id }
    return { ...reading, position: await positionOf(reading.ada, reading.conversation_id) }
  }
  afterEach(async () => {
    await Promise.all(streams.splice(0).map((stream) => stream.close()))
    await soon(() => expect(innerState(service).streams.hub.size()).toBe(0))
    // With two nodes, each counts the streams of the other until it has learnt that they are closed.
    await vi.waitFor(async () => {
      for (const node of service.nodes)
        expect(await innerState(node).streams.presence.countRemote(reading.ada.id)).toBe(0)
    }, 10_000)
  })

  async function open(options: { last_event_id?: string; search?: string } = {}): Promise<TestStream> {
    const stream = await openStream(service.base_url, reading.conversation_id, { cookie: reading.cookie, ...options })
    streams.push(stream)
    return stream
  }
  const post = (content = 'x') => reading.ada.messages.postRoot(params.conversation_id, { content })
  const pathOf = (id: string) => `${service.base_url}/api/stream/conversations/${id}`

  describe('without an id', () => {
    it('starts with its position, then sends events in order and without gaps', async () => {
      const { ada, grace, conversation_id, position } = await begin()
      const stream = await open()
      const [ready] = await stream.until('stream.ready')
      expect(ready).toEqual({
        id: position,
        event: {
          type: 'stream.ready',
          payload: { conversation_id, resumed: false, last_event_id: position, seq: seqOf(position) },
        },
      })

      const root = await post('a root')
      const { message } = await grace.messages.reply(root.message_id, {
        content: 'a reply\nof two lines,\r\nthree \u2028 even',
      })
      const { id } = await service.signIn('mary')
      await ada.participants.add(params.conversation_id, { user_id: id, role: 'viewer' })
      await grace.presence.sendHeartbeat({ status: 'away' })

      const told: ReceivedEvent[] = []
      const has = (isWanted: (event: ConversationStreamEvent) => boolean) => told.some(({ event }) => isWanted(event))
      const isOf = (user_id: string, status: string) => (event: ConversationStreamEvent) =>
        event.type === 'presence.update' && event.payload.user_id === user_id && event.payload.status === status
      while (
        !has(isOf(id, 'offline')) ||
        !has(isOf(grace.id, 'away')) ||
        !has(({ type }) => type === 'membership.changed')
      )
        told.push((await stream.next())!)
      // Of presence and unread counts the place among the others is not defined.
      const seen = told.filter((each) => isNews(each) && each.event.type !== 'unread.update')
      expect(seen.map(({ event }) => event.type)).toEqual([
        'thread.new',
        'message.new',
        'message.new',
        'thread.activity',
        'membership.changed',
      ])
      expect(seqsOf(seen)).toEqual(range(seqOf(position), seqOf(position) + 4))
      const [thread, first, second, activity, joined] = seen.map(({ event }) => event.payload)
      expect(thread).toMatchObject({ conversation_id, root_id: root.root_id, summary: { root_excerpt: 'a root' } })
      expect((thread as { summary: object }).summary).not.toHaveProperty('unread')
      expect(first).toEqual({ message: root.message })
      const { created_at: last_reply_at, author_user_id } = message
      const state = { root_id: root.root_id, reply_count: 1, last_reply_at, last_replier_ids: [author_user_id] }
      expect(second).toEqual({ message, thread: state })
      expect(activity).toEqual({ root_id: root.root_id, last_activity_at: message.created_at })
      expect(joined).toEqual({ conversation_id, user_id: id, role: 'viewer', action: 'added' })
      for (const { id, event } of told)
        expect(id !== undefined, event.type).toBe(!/^(thread.activity|presence|unread)/.test(event.type))
    })

    it('stores nothing of ephemeral events', async () => {
      const { grace, root, position } = await begin()
      const live = await open()
      await live.until('stream.ready')
      await grace.messages.reply(root.message_id, { content: 'x' })
      await live.until('thread.activity')
      await post()
      const late = await open({ last_event_id: position })
      expect(typesOf(await late.until('thread.new'))).toEqual(['stream.ready', 'message.new', 'thread.new'])
    })
  })

  describe('with an id', () => {
    it.each([
      ['in the header', (id: string) => ({ last_event_id: id })],
      ['in the address', (id: string) => ({ search: `?last_event_id=${id}` })],
      ['in both, the header being the newer', (id: string) => ({ last_event_id: id, search: `?last_event_id=${id}9` })],
      [
        'in the address, the header being empty',
        (id: string) => ({ last_event_id: '', search: `?last_event_id=${id}` }),
      ],
    ])('%s resumes right after it, and continues', async (_, options) => {
      const { conversation_id, position } = await begin()
      const [first, second] = [await post(), await post()]
      const stream = await open(options(position))
      const seen = await stream.until('message.new', (event) => JSON.stringify(event).includes(second.message_id))
      expect(seen[0]).toEqual({
        id: position,
        event: {
          type: 'stream.ready',
          payload: { conversation_id, resumed: true, last_event_id: position, seq: seqOf(position) },
        },
      })
      expect(seqsOf(seen)).toEqual(range(seqOf(position), seqOf(position) + 4))
      expect(seen[2]!.event.payload).toEqual({ message: first.message })
      await post()
      expect(seqsOf(await stream.until('message.new'))).toEqual(range(seqOf(position) + 4, seqOf(position) + 6))
    })

    it('resumes from every stored event, from before the first, and from the last', async () => {
      const { position } = await begin()
      for (let seq = 0; seq <= seqOf(position); seq++) {
        const stream = await open({ last_event_id: withSeq(position, seq) })
        const seen = await stream.until('stream.ready')
        while (seqsOf(seen).length < seqOf(position) - seq) seen.push((await stream.next())!)
        expect(seen[0]!.event.payload).toMatchObject({ resumed: true, seq })
        expect(seqsOf(seen)).toEqual(range(seq, seqOf(position)))
        await stream.close()
        await soon(() => expect(innerState(service).streams.hub.size()).toBe(0))
      }
    })

    it('replays a long log page by page, completely', async () => {
      const { ada, root, conversation_id, position } = await begin()
      const actor = await service.chat.users.actor(ada.id)
      const posted = await inTens(200, (i) => service.chat.messages.reply(actor, root.message_id, { content: `${i}` }))
      const stream = await open({ last_event_id: position })
      const last = await positionOf(ada, conversation_id)
      const seen = await stream.until('stream.ready')
      while (seen.at(-1)!.id !== last) seen.push((await stream.next())!)
      expect(seqsOf(seen)).toEqual(range(seqOf(position), seqOf(position) + 200))
      const told = new Set(seen.map(({ event }) => event.type === 'message.new' && event.payload.message.id))
      expect(posted.filter((each) => !told.has(each.message_id))).toEqual([])
    })
  })

  describe('with an invalid id sends stream.reset, and continues live:', () => {
    const epoch = (id: string) => id.slice(0, id.indexOf('.'))
    const foreign = async () => {
      const { conversation_id } = await reading.ada.conversations.create()
      return positionOf(reading.ada, conversation_id)
    }
    it.each<[what: string, reason: string, make: (position: string) => string | Promise<string>]>([
      ['a word', 'malformed', () => 'latest'],
      ['a number alone', 'malformed', (id) => String(seqOf(id))],
      ['an epoch alone', 'malformed', (id) => `${epoch(id)}.`],
      ['a negative number', 'malformed', (id) => withSeq(id, -1)],
      ['a leading zero', 'malformed', (id) => `${epoch(id)}.0${seqOf(id)}`],
      ['a fraction', 'malformed', (id) => `${id}.5`],
      ['an exponent', 'malformed', (id) => `${epoch(id)}.1e0`],
      ['letters in another case', 'malformed', (id) => `${'ABCDEF0123456789'}.${seqOf(id)}`],
      ['a number too large to be one', 'malformed', (id) => `${epoch(id)}.${'9'.repeat(40)}`],
      ['two of them', 'malformed', (id) => `${id},${id}`],
      ['as many characters as an id may have', 'malformed', () => 'f'.repeat(200)],
      ['a number beyond what a double holds', 'future', (id) => `${epoch(id)}.9007199254740993`],
      ['the next event', 'future', (id) => withSeq(id, seqOf(id) + 1)],
      ['another epoch', 'unknown', (id) => `${'0123456789abcdef'}.${seqOf(id)}`],
      ['an event of another conversation', 'unknown', foreign],
      ['what is no longer kept', 'expired', (id) => withSeq(id, 0)],
    ])('%s', async (_, reason, make) => {
      const { conversation_id } = await begin()
      const { db } = innerState(service)
      // The oldest stored event is the third one: a reader who has the second misses nothing.
      await db.run(sql`DELETE FROM events WHERE conversation_id = ${conversation_id} AND seq < 3`)
      for (const where of ['header', 'address']) {
        const at = await positionOf(reading.ada, conversation_id)
        const id = await make(at)
        const stream = await open(
          where === 'header' ? { last_event_id: id } : { search: `?last_event_id=${encodeURIComponent(id)}` },
        )
        expect([await stream.next(), await stream.next()]).toEqual([
          {
            id: at,
            event: {
              type: 'stream.ready',
              payload: { conversation_id, resumed: false, last_event_id: at, seq: seqOf(at) },
            },
          },
          { event: { type: 'stream.reset', payload: { reason, last_event_id: at } } },
        ])
        await post()
        expect(seqsOf(await stream.until('message.new'))).toEqual(range(seqOf(at), seqOf(at) + 2))
      }
    })

    it('but not with the id before the oldest stored event', async () => {
      const { conversation_id, position } = await begin()
      await innerState(service).db.run(sql`DELETE FROM events WHERE conversation_id = ${conversation_id} AND seq < 3`)
      const stream = await open({ last_event_id: withSeq(position, 2) })
      const seen = await stream.until('message.new')
      expect(seen[0]!.event.payload).toMatchObject({ resumed: true, seq: 2 })
      expect(seqsOf(seen)[0]).toBe(3)
    })

    it('nor with the last id, when nothing is stored', async () => {
      const { conversation_id, position } = await begin()
      await innerState(service).db.run(sql`DELETE FROM events WHERE conversation_id = ${conversation_id}`)
      const current = await open({ last_event_id: position })
      expect((await current.next())!.event.payload).toMatchObject({ resumed: true, seq: seqOf(position) })
      const old = await open({ last_event_id: withSeq(position, seqOf(position) - 1) })
      expect(typesOf(await old.until('stream.reset'))).toEqual(['stream.ready', 'stream.reset'])
    })
  })

  describe('refuses', () => {
    it('a caller who is not signed in', async () => {
      const { conversation_id } = await begin()
      for (const cookie of ['', 'SESSION_ID=', `SESSION_ID=${'A'.repeat(43)}`]) {
        const response = await checkedFetch(pathOf(conversation_id), { headers: cookie ? { cookie } : {} })
        expect(response.status).toBe(401)
      }
    })

    it('an outsider, with the response for an unknown conversation', async () => {
      const { eve, conversation_id, cookie } = await begin()
      const outside = (await openStream(service.base_url, conversation_id, await cookieOf(eve))).response
      expect(outside.status).toBe(404)
      const { request_id: _, ...problem } = (await outside.json()) as Record<string, unknown>
      for (const id of [innerState(service).id(), conversation_id.toUpperCase(), 'x', '%00', '%ff', '%F0%9F%98%80']) {
        const response = await checkedFetch(pathOf(id), { headers: { cookie } })
        expect(response.status, id).toBe(404)
        expect(await response.json()).toMatchObject(problem)
      }
    })

    it('one more than the maximum per user, until one is freed', async () => {
      const { ada, conversation_id, cookie, graces_cookie } = await begin()
      /** Waits until every node knows of so many streams: a stream counts at other nodes within a second. */
      const areKnown = async (count: number) => {
        for (const node of service.nodes)
          await soon(async () => {
            const elsewhere = await innerState(node).streams.presence.countRemote(ada.id)
            expect(innerState(node).streams.hub.countStreams(ada.id) + elsewhere).toBe(count)
          })
      }
      /** Between two streams, a request makes the next one go to the next node. */
      const openNext = async () => {
        await ada.auth.me()
        return open()
      }
      for (let n = 0; n < STREAMS; n++) await (await openNext()).until('stream.ready')
      await areKnown(STREAMS)
      for (const method of ['GET', 'HEAD', 'GET']) {
        await ada.auth.me()
        const refused = await fetch(pathOf(conversation_id), { method, headers: { cookie } })
        expect(refused.status).toBe(429)
        expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
        if (method === 'GET') expect(await refused.json()).toMatchObject({ code: 'too_many_streams' })
      }
      const other = await openStream(service.base_url, conversation_id, { cookie: graces_cookie })
      streams.push(other)
      await other.until('stream.ready')

      await streams.shift()!.close()
      await areKnown(STREAMS - 1)
      await (await openNext()).until('stream.ready')
      await areKnown(STREAMS)
      expect((await openNext()).response.status).toBe(429)
    })

    it('an id that is given twice', async () => {
      const { conversation_id, cookie, position } = await begin()
      const search = `?last_event_id=${position}&last_event_id=${position}`
      expect((await checkedFetch(pathOf(conversation_id) + search, { headers: { cookie } })).status).toBe(422)
    })

    it('every method but GET and HEAD', async () => {
      const { conversation_id, cookie } = await begin()
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const response = await checkedFetch(pathOf(conversation_id), { method, headers: { cookie } })
        expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
      }
    })
  })

  it('opens no stream for HEAD, and answers it with the headers of GET', async () => {
    const { ada, conversation_id, cookie } = await begin()
    for (let i = 0; i <= STREAMS; i++) {
      const head = await fetch(pathOf(conversation_id), { method: 'HEAD', headers: { cookie } })
      expect(head.status).toBe(200)
      expect(await head.text()).toBe('')
      expect(head.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      expect(innerState(service).streams.hub.size()).toBe(0)
      expect(innerState(service).streams.hub.countStreams(ada.id)).toBe(0)
    }
    const stream = await open()
    const head = await fetch(pathOf(conversation_id), { method: 'HEAD', headers: { cookie } })
    const named = (response: Response) =>
      Object.fromEntries(
        [...response.headers].filter(([name]) => !/request-id|date|connection|keep-alive|ratelimit/.test(name)),
      )
    expect(named(head)).toEqual(named(stream.response))
  })

  it('sends the retry time first, and comments at intervals', async () => {
    const { conversation_id, cookie, position } = await begin()
    const response = await fetch(pathOf(conversation_id), { headers: { cookie } })
    const text = textOf(response)
    const start = await text.when((text) => text.includes('stream.ready'))
    expect(start.startsWith(`retry: 2000\n\nid: ${position}\nevent: stream.ready\ndata: {"type":"stream.ready",`)).toBe(
      true,
    )
    for (const node of service.nodes) innerState(node).streams.hub.sendHeartbeats()
    await text.when((text) => text.endsWith(': keep-alive\n\n'))
    expect(text.news()).toBe(`${start}: keep-alive\n\n`)
    await text.cancel()
  })

  it('has the same headers and the same bytes on Node and as a web response', async () => {
    const { ada, conversation_id, cookie, position } = await begin()
    const headers = { cookie, 'last-event-id': withSeq(position, 1), 'x-request-id': 'the-same-for-both' }
    const node = await fetch(pathOf(conversation_id), { headers })
    const app = createChatApp(service.chat)
    const web = await app.fetch(
      new Request(`http://localhost/api/stream/conversations/${conversation_id}`, { headers }),
    )

    expect([node.status, web.status]).toEqual([200, 200])
    expect(fixed(web)).toEqual({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-request-id': 'the-same-for-both',
    })
    const { connection, date, ...sent } = fixed(node)
    expect(sent).toEqual(fixed(web))
    expect([...node.headers.keys()].filter(isOfLimit)).toEqual([...web.headers.keys()].filter(isOfLimit))
    expect(connection).toBe('close')
    expect(date).toBeTruthy()

    const [fromNode, fromWeb] = [textOf(node), textOf(web)]
    await fromNode.when((text) => text.includes(`id: ${position}\n`))
    await fromWeb.when((text) => text.includes(`id: ${position}\n`))
    // Both wait for more, so both have caught up.
    const isAll = (text: string) => text.includes('thread.activity"') && text.endsWith('\n\n')
    const reading = [fromNode.when(isAll), fromWeb.when(isAll)]
    await turns()
    for (const node of service.nodes) innerState(node).streams.hub.sendHeartbeats()
    const root = await post('zwölf Boxkämpfer 🥊')
    await ada.messages.reply(root.message_id, { content: 'over\nand out' })
    await Promise.all(reading)
    expect(fromNode.news()).toBe(fromWeb.news())

    // A web reader that disconnects frees its place too.
    await fromWeb.cancel()
    expect(innerState(service).streams.hub.countStreams(ada.id)).toBe(1)
    await fromNode.cancel()
  })

  async function cookieOf(person: { email: string }) {
    const { token } = await service.chat.auth.login({}, { email: person.email, password: 'correct horse battery' })
    return { cookie: `SESSION_ID=${token}` }
  }
})

/** Collects events: `when` reads until those so far satisfy the condition, and returns them. */
function textOf(response: Response) {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    async when(isWanted: (text: string) => boolean): Promise<string> {
      while (!isWanted(text)) {
        const { value, done } = await reader.read()
        if (done) throw new Error(`The stream ended after ${text}`)
        text += value
      }
      return text
    },
    /** The events so far, without presence, which changes when streams open. */
    news: () => text.replace(/event: presence\.update\n.*\n\n/g, ''),
    cancel: () => reader.cancel(),
  }
}

const isOfLimit = (name: string) => name.includes('ratelimit')

/** The headers of a response without those that count down. */
function fixed({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !isOfLimit(name)))
}
