import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeAll, describe, expect, expectTypeOf, it, vi } from 'vitest'
import type { ConversationStreamEvent } from '../../lib/chat/events/schema.ts'
import { type AdminClient, createAdminClient, type ReceivedEvent } from '../../lib/client/admin.ts'
import type { ChatError } from '../../lib/core/errors.ts'
import { sql } from '../../lib/storage/sql.ts'
import { isNews, positionOf, range, readAnew, seqOf, seqsOf, soon, startReading, typesOf } from '../live/readers.ts'
import { checkedFetch } from '../support/answers.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, startService } from '../support/service.ts'

/** These tests sign in many times. */
const MANY_SESSIONS = { session: { max_sessions_per_user: 100 } }

describeOnEachDatabase('a client', (openUrl) => {
  let url: string
  const service = setUpService(async () => {
    url = await openUrl()
    return startService(url, { config: MANY_SESSIONS })
  })
  let reading: Awaited<ReturnType<typeof startReading>>
  beforeAll(async () => {
    reading = await startReading(service)
  })

  /** A client, and the headers of its last request. */
  function watched(options: object = {}) {
    const sent: { headers: Headers; status: number }[] = []
    const client = createAdminClient({
      base_url: service.base_url,
      retry_ms: 10,
      ...options,
      fetch: async (input, init) => {
        const response = await checkedFetch(input, init)
        sent.push({ headers: new Headers(init?.headers), status: response.status })
        return response
      },
    })
    return { client, last: () => sent.at(-1)! }
  }
  const credentials = { email: 'ada@example.org', password: PASSWORD }

  describe('stores the session:', () => {
    it('refuses a call with a missing id, an unknown option or an input that is no object', async () => {
      const client = createAdminClient({ base_url: 'http://127.0.0.1:9' })
      const { get, rename } = client.conversations as unknown as Record<
        string,
        (...args: unknown[]) => Promise<unknown>
      >
      await expect(get!({ conversation_id: 'x' })).rejects.toThrow(
        'client.conversations.get(conversation_id, options) needs "conversation_id", a string',
      )
      await expect(get!()).rejects.toThrow('needs "conversation_id"')
      await expect(get!('x', { header: {} })).rejects.toThrow('has no "header", only headers, signal, keepalive')
      await expect(get!('x', {}, {})).rejects.toThrow('was called with 3 arguments')
      await expect(rename!('x', 'a title')).rejects.toThrow('needs an object as its input')
    })

    it('the cookies of a sign-in, and the CSRF token for changes', async () => {
      const { client, last } = watched()
      expect(await codeOf(client.auth.me())).toBe('unauthenticated')
      expect(last().headers.get('cookie')).toBeNull()
      const { user, csrf_token } = await client.auth.login(credentials)
      expect((await client.auth.me()).user).toEqual(user)
      expect(last().headers.get('cookie')).toMatch(
        /^SESSION_ID=[\w-]{43}; CSRF-TOKEN=[\w-]{43}; SESSION_ID-DEVICE=[\w-]{43}$/,
      )
      expect(last().headers.get('x-csrf-token')).toBeNull()
      await client.conversations.create({ title: 'mine' })
      expect(last().headers.get('x-csrf-token')).toBe(csrf_token)
    })

    it('none with an API key, which is sent instead', async () => {
      const { client } = watched()
      await client.auth.login(credentials)
      const { key } = await client.keys.create({ name: 'a script' })
      const { client: script, last } = watched({ api_key: key })
      await script.conversations.create({ title: 'by a script' })
      const { authorization, cookie, 'x-csrf-token': csrf } = Object.fromEntries(last().headers)
      expect([authorization, cookie, csrf]).toEqual([`Bearer ${key}`, undefined, undefined])
      const abort = new AbortController()
      for await (const { event } of script.events.followAll({ signal: abort.signal })) {
        expect(event.type).toBe('stream.ready')
        abort.abort()
      }
    })

    it('the new cookies of a refresh', async () => {
      const { client, last } = watched()
      const before = await client.auth.login(credentials)
      const { csrf_token } = await client.auth.refresh()
      expect(csrf_token).not.toBe(before.csrf_token)
      await client.conversations.create()
      expect(last().headers.get('x-csrf-token')).toBe(csrf_token)
    })

    it('the CSRF token without readable cookies, as on a page of another origin', async () => {
      const { csrf_token } = await watched().client.auth.login(credentials)
      let sent = new Headers()
      const blind: typeof fetch = async (input, init) => {
        sent = new Headers(init?.headers)
        const response = await fetch(input, init)
        return new Response(response.body, {
          status: response.status,
          headers: [...response.headers].filter(([name]) => name !== 'set-cookie'),
        })
      }
      const again = createAdminClient({ base_url: service.base_url, fetch: blind, csrf_token })
      expect(await codeOf(again.conversations.create())).toBe('unauthenticated')
      expect(sent.get('x-csrf-token')).toBe(csrf_token)
      const fresh = await again.auth.login(credentials)
      expect(await codeOf(again.conversations.create())).toBe('unauthenticated')
      expect(sent.get('x-csrf-token')).toBe(fresh.csrf_token)
    })

    it('none after logout', async () => {
      const { client, last } = watched()
      await client.auth.login(credentials)
      expect(await client.auth.logout()).toBeUndefined()
      expect(await codeOf(client.conversations.create())).toBe('unauthenticated')
      expect(last().headers.get('cookie')).toMatch(/^SESSION_ID-DEVICE=[\w-]{43}$/)
      expect(last().headers.get('x-csrf-token')).toBeNull()
    })

    it('none after it has ended on another client', async () => {
      const { client } = watched()
      const { session } = await client.auth.login(credentials)
      await innerState(service).db.run(sql`DELETE FROM sessions WHERE id = ${session.id}`)
      expect(await codeOf(client.auth.me())).toBe('unauthenticated')
      expect(await codeOf(client.auth.me())).toBe('unauthenticated')
    })

    it('in a browser, which stores the cookies itself and shows the token in the page’s', async () => {
      const sent: Headers[] = []
      const client = createAdminClient({
        base_url: service.base_url,
        fetch: async (_, init) => {
          sent.push(new Headers(init?.headers))
          return new Response(null, { status: 204 })
        },
      })
      vi.stubGlobal('document', { cookie: 'theme=dark; CSRF-TOKEN=shown' })
      await client.auth.logout()
      vi.unstubAllGlobals()
      expect([sent[0]!.get('x-csrf-token'), sent[0]!.get('cookie')]).toEqual(['shown', null])
    })

    it('apart from those of other clients', async () => {
      const { ada, grace } = reading
      expect((await ada.auth.me()).user.id).not.toBe((await grace.auth.me()).user.id)
    })
  })

  it("uses the service's names of CSRF cookie and header, and accepts a URL with a slash", async () => {
    const csrf = { cookie_name: 'token', header_name: 'X-Token' }
    const config = { ...MANY_SESSIONS, security: { csrf, password: { bcrypt_cost: 4 } } }
    const other = await startService(url, { config })
    const names = { csrf_cookie_name: 'token', csrf_header_name: 'X-Token' }
    const { client, last } = watched({ base_url: `${other.base_url}/`, ...names })
    const { csrf_token } = await client.auth.login(credentials)
    await client.conversations.create()
    expect(last().headers.get('x-token')).toBe(csrf_token)
    await other.close()
  })

  it('adds the stream position to the result of a read', async () => {
    const { ada, conversation_id, root } = await readAnew(reading)
    const { stream_position } = await ada.conversations.get(conversation_id)
    expect(stream_position).toMatch(/^[0-9a-f]{16}\.4$/)
    expect((await ada.threads.list(conversation_id)).stream_position).toBe(stream_position)
    expect((await ada.threads.tree(root.root_id)).stream_position).toBe(stream_position)
  })

  describe('fails with a ChatError', () => {
    it('that has the code, the status and the message of the response', async () => {
      const { client } = watched()
      const failed = client.auth.login({ ...credentials, password: 'wrong' }).catch((error: ChatError) => error)
      expect(await failed).toMatchObject({
        name: 'ChatError',
        code: 'invalid_credentials',
        status: 401,
        request_id: expect.stringMatching(/^[\w-]{36}$/),
        message: 'The e-mail or the password is wrong.',
      })
    })

    it('that names the invalid fields', async () => {
      const { ada, conversation_id } = reading
      const failed = ada.messages.postRoot(conversation_id, { content: '' }).catch((error) => error)
      expect(await failed).toMatchObject({
        code: 'validation_failed',
        errors: [{ path: 'content', message: expect.any(String) }],
      })
    })

    it('that names a number which JSON has not, instead of sending null', async () => {
      const { ada } = reading
      for (const n of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
        const metadata = { ok: 1, list: [0, { n }] }
        const failed = ada.conversations.create({ metadata }).catch((error) => error)
        expect(await failed).toMatchObject({
          code: 'validation_failed',
          errors: [{ path: 'metadata.list.1.n', message: 'must be a finite number' }],
        })
      }
    })
  })

  describe('follows a conversation', () => {
    const stops: AbortController[] = []
    afterEach(async () => {
      for (const stop of stops.splice(0)) stop.abort()
      await soon(() => expect(innerState(service).streams.hub.size()).toBe(0))
    })

    async function begin() {
      reading = await readAnew(reading)
      const params = { conversation_id: reading.conversation_id }
      const position = await positionOf(reading.ada, params.conversation_id)
      const follow = (client: AdminClient = reading.ada, last_event_id?: string) => {
        const stop = new AbortController()
        stops.push(stop)
        const options = { signal: stop.signal, ...(last_event_id !== undefined && { last_event_id }) }
        return toReading(client.events.follow(params.conversation_id, options), stop)
      }
      const post = () => reading.ada.messages.postRoot(params.conversation_id, { content: 'x' })
      return { ...reading, params, position, follow, post }
    }

    it('from now on, or from an event id on', async () => {
      const { follow, post, position } = await begin()
      const live = follow()
      expect(typesOf(await live.until('stream.ready'))).toEqual(['stream.ready'])
      await post()
      expect(seqsOf(await live.until('message.new'))).toEqual(range(seqOf(position), seqOf(position) + 2))
      const past = await follow(reading.ada, position).until('message.new')
      expect(typesOf(past)).toEqual(['stream.ready', 'thread.new', 'message.new'])
    })

    it('over lost connections, without a gap or a repeat', async () => {
      const { follow, post, position } = await begin()
      const stream = follow()
      const seen = await stream.until('stream.ready')
      for (let i = 0; i < 5; i++) {
        await post()
        if (i % 2) seen.push(...(await stream.until('message.new')))
        service.server.closeAllConnections()
        await post().catch(post)
        seen.push(...(await stream.until('message.new')))
      }
      const end = await positionOf(reading.ada, reading.conversation_id)
      while (seen.at(-1)!.id !== end) seen.push(await stream.next())
      expect(seqsOf(seen)).toEqual(range(seqOf(position), seqOf(end)))
      expect(seen.filter(({ event }) => event.type === 'stream.reset')).toEqual([])
      expect(seen.filter(({ event }) => event.type === 'stream.ready').length).toBeGreaterThan(1)
    })

    it('over a drain and a restart on the same port', async () => {
      const { ada, conversation_id, params, position } = await begin()
      const first = await startService(url, { config: MANY_SESSIONS })
      const port = Number(new URL(first.base_url).port)
      const client = first.client()
      await client.auth.login(credentials)
      const stop = new AbortController()
      const stream = toReading(client.events.follow(conversation_id, { signal: stop.signal }), stop)
      await stream.until('stream.ready')
      await client.messages.postRoot(params.conversation_id, { content: 'before' })
      await first.close()
      await ada.messages.postRoot(params.conversation_id, { content: 'meanwhile' })
      const second = await startService(url, { port, config: MANY_SESSIONS })
      await client.messages.postRoot(params.conversation_id, { content: 'after' })
      const seen = []
      while (seqsOf(seen).length < 6) seen.push(await stream.next())
      expect(seqsOf(seen)).toEqual(range(seqOf(position), seqOf(position) + 6))
      const [closed] = seen.filter(({ event }) => event.type === 'stream.closed')
      expect(closed!.event.payload).toEqual({ reason: 'draining' })
      stop.abort()
      await second.close()
    })

    it('until the session ends', async () => {
      const { follow, position } = await begin()
      const { client } = watched()
      await client.auth.login(credentials)
      const stream = follow(client, position)
      await stream.until('stream.ready')
      await client.auth.logout()
      const rest = await stream.rest()
      expect(rest.at(-1)!.event).toEqual({ type: 'stream.closed', payload: { reason: 'session_ended' } })
    })

    it('until the participation ends', async () => {
      const { ada, grace, params, follow } = await begin()
      const stream = follow(grace)
      await stream.until('stream.ready')
      await ada.participants.remove(params.conversation_id, grace.id)
      expect(typesOf(await stream.rest())).toEqual(['membership.changed', 'stream.closed'])
    })

    it('until either has ended while the connection was lost', async () => {
      const { ada, params, follow } = await begin()
      const people = [await service.signIn('kim'), await service.signIn('leo')] as const
      for (const { id } of people) await ada.participants.add(params.conversation_id, { user_id: id })
      const streams = people.map((person) => follow(person))
      for (const stream of streams) await stream.until('stream.ready')
      const [kim, leo] = people
      const { db } = innerState(service)
      await db.run(sql`DELETE FROM sessions WHERE user_id = ${kim.id}`)
      await db.run(sql`DELETE FROM participants WHERE user_id = ${leo.id}`)
      service.server.closeAllConnections()
      for (const stream of streams) await stream.rest()
    })

    it('until it is aborted: while it waits, while the connection is lost, and before it begins', async () => {
      const { follow, params } = await begin()
      const stream = follow()
      await stream.until('stream.ready')
      stream.stop()
      expect(await stream.rest()).toEqual([])

      const slow = createAdminClient({ base_url: 'http://127.0.0.1:1', retry_ms: 1_000_000 })
      const lost = new AbortController()
      const waiting = slow.events.follow(params.conversation_id, { signal: lost.signal }).next()
      setImmediate(() => lost.abort())
      expect((await waiting).done).toBe(true)
      const never = slow.events.follow(params.conversation_id, { signal: AbortSignal.abort() })
      expect((await never.next()).done).toBe(true)
    })

    it('until the loop is left, which closes the connection', async () => {
      const { conversation_id } = await begin()
      for await (const _ of reading.ada.events.follow(conversation_id)) break
      await soon(() => expect(innerState(service).streams.hub.size()).toBe(0))
    })

    it('not at all without the right to', async () => {
      const { eve, follow } = await begin()
      expect(await codeOf(follow(eve).next())).toBe('not_found')
      expect(await codeOf(follow(service.client()).next())).toBe('unauthenticated')
    })
  })
})

describe('a client of a failing service', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections()
  })

  /** A server that answers each request in turn with one of these, the last one for all that follow. */
  async function answering(...answers: RequestListener[]) {
    let count = 0
    const server = createServer((request, response) => {
      const answer = answers[Math.min(count++, answers.length - 1)]!
      request.resume().on('end', () => answer(request, response))
    }).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { base_url, client: createAdminClient({ base_url, retry_ms: 5 }), count: () => count }
  }
  const answer =
    (status: number, body: unknown, headers: Record<string, string> = {}): RequestListener =>
    (_, response) =>
      response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  const problem = (code: string) => ({ type: `urn:chat-server:problem:${code}`, code })
  const busy = answer(503, { ...problem('unavailable'), detail: 'Busy.' }, { 'retry-after': '0.02' })
  const ok = answer(200, { status: 'ok' })
  const events =
    (text: string): RequestListener =>
    (_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
  const READY = 'id: a.1\nevent: stream.ready\ndata: {"type":"stream.ready","payload":{}}\n\n'
  const NEWS = 'id: a.2\nevent: message.new\ndata: {"type":"message.new","payload":{}}\n\n'
  const OVER = 'event: stream.closed\ndata: {"type":"stream.closed","payload":{"reason":"removed"}}\n\n'

  it('reads again after the Retry-After time', async () => {
    const { client, count } = await answering(busy, busy, ok)
    expect(await client.ops.health()).toEqual({ status: 'ok' })
    expect(count()).toBe(3)
  })

  it('reads again after a lost connection', async () => {
    const { client } = await answering((request) => request.socket.destroy(), ok)
    expect(await client.ops.health()).toEqual({ status: 'ok' })
  })

  it('gives up after several attempts, and returns when to retry', async () => {
    const { client, count } = await answering(busy)
    const failed = await client.ops.health().catch((error: ChatError) => error)
    expect(failed).toMatchObject({ code: 'unavailable', message: 'Busy.', retry_after_seconds: 0.02 })
    expect(count()).toBe(3)
  })

  it('repeats no request that changes data', async () => {
    const { client, count } = await answering(busy, ok)
    expect(await codeOf(client.conversations.create())).toBe('unavailable')
    expect(count()).toBe(1)
  })

  it.each<[status: number, body: unknown, code: string]>([
    [500, problem('internal'), 'internal'],
    [500, { code: 'not_found' }, 'internal'],
    [500, '<html>', 'internal'],
    [418, { code: 'teapot' }, 'internal'],
    [409, { code: 'toString' }, 'internal'],
    [429, problem('too_many_streams'), 'too_many_streams'],
    [502, '<html>', 'unavailable'],
    [503, '', 'unavailable'],
    [504, '<html>', 'unavailable'],
  ])('takes %i with %j for %s', async (status, body, code) => {
    const { client } = await answering(answer(status, body))
    expect(await codeOf(client.conversations.create())).toBe(code)
  })

  it('continues to follow after errors of a proxy, once it had the stream', async () => {
    const { client, count } = await answering(
      events(READY),
      busy,
      answer(502, '<html>'),
      answer(429, problem('too_many_streams'), { 'retry-after': '0.01' }),
      (request) => request.socket.destroy(),
      events(`: a comment\n\n${NEWS}id: a.3\nevent: message.new\ndata: {"type":"mess`),
      events(OVER),
    )
    const seen = []
    for await (const { id } of client.events.follow('x')) seen.push(id)
    expect(seen).toEqual(['a.1', 'a.2', undefined])
    expect(count()).toBe(7)
  })

  it('reconnects after the retry time of the stream', async () => {
    const { base_url } = await answering(
      events(`retry: 1\n\n${READY}`),
      busy,
      events(`${NEWS}retry: 2\n\n`),
      events(OVER),
    )
    // Without its own retry time, which would be seconds here.
    const client = createAdminClient({ base_url })
    const asked = performance.now()
    for await (const _ of client.events.follow('x'));
    expect(performance.now() - asked).toBeLessThan(1_500)
  })

  it('waits a bounded time for a Retry-After with a date or a century', async () => {
    const { client, count } = await answering(
      events(READY),
      answer(503, '', { 'retry-after': 'Fri, 31 Dec 2100 23:59:59 GMT' }),
    )
    const abort = new AbortController()
    const reading = (async () => {
      for await (const _ of client.events.follow('x', { signal: abort.signal }));
    })()
    while (count() < 2) await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(count()).toBe(2)
    abort.abort()
    await reading
  })

  it('reconnects with the last id it has', async () => {
    const asked: (string | undefined)[] = []
    const asking =
      (then: RequestListener): RequestListener =>
      (request, response) => {
        asked.push(request.headers['last-event-id'] as string | undefined)
        then(request, response)
      }
    const { client } = await answering(
      asking(events(READY)),
      asking(events(NEWS)),
      asking(events('event: thread.activity\ndata: {"type":"thread.activity","payload":{}}\n\n')),
      asking(events(OVER)),
    )
    for await (const _ of client.events.follow('x'));
    expect(asked).toEqual([undefined, 'a.1', 'a.2', 'a.2'])
  })

  it('does not follow a response that is not an event stream', async () => {
    for (const [status, code] of [
      [404, 'not_found'],
      [429, 'too_many_streams'],
      [500, 'internal'],
    ] as const) {
      const { client, count } = await answering(answer(status, problem(code)))
      expect(await codeOf(client.events.follow('x').next())).toBe(code)
      expect(count()).toBe(1)
    }
  })
})

it('has the types of the routes', () => {
  const client = createAdminClient({ base_url: 'http://localhost' })
  expectTypeOf(client.messages.postRoot).parameter(0).toEqualTypeOf<string>()
  expectTypeOf(client.messages.postRoot).parameter(1).toExtend<{ metadata?: unknown } | undefined>()
  expectTypeOf<Awaited<ReturnType<typeof client.messages.postRoot>>['message']['content']>().toEqualTypeOf<string>()
  expectTypeOf<Awaited<ReturnType<typeof client.threads.tree>>['next_cursor']>().toEqualTypeOf<string | undefined>()
  expectTypeOf(client.auth.logout).returns.resolves.toBeVoid()
  expectTypeOf(client.ops.metrics).returns.resolves.toEqualTypeOf<string>()
  expectTypeOf(client.events.follow('x')).toEqualTypeOf<AsyncGenerator<ReceivedEvent>>()
  expectTypeOf<ReceivedEvent['event']>().toEqualTypeOf<ConversationStreamEvent>()

  // Never called: the compiler finds the errors here.
  const wrong = () => [
    // @ts-expect-error a body is needed
    client.auth.login(),
    // @ts-expect-error so is the whole of it
    client.auth.login({ email: 'a@b' }),
    // @ts-expect-error text, not a number
    client.auth.login({ email: 'a@b', password: 5 }),
    // @ts-expect-error the ids of the path are needed
    client.conversations.get(),
    // @ts-expect-error as texts
    client.conversations.get({ conversation_id: 'x' }),
    // @ts-expect-error the text of a message is called content
    client.messages.postRoot('x', { text: 'x' }),
    // @ts-expect-error no user posts as the system
    client.messages.postRoot('x', { content: 'x', role: 'system' }),
    // @ts-expect-error a limit is a number
    client.threads.tree('x', { limit: '5' }),
    // @ts-expect-error a stream is followed, not called
    client.events.stream('x'),
    // @ts-expect-error there is no such endpoint
    client.deleteEverything(),
  ]
  const right = () => [client.auth.me(), client.conversations.create(), client.conversations.create({})]
  expect([wrong, right]).toHaveLength(2)
})

/** Events as a test reads them, one by one. */
function toReading(events: AsyncGenerator<ReceivedEvent>, abort: AbortController) {
  const next = async (): Promise<ReceivedEvent> => {
    const { value, done } = await events.next()
    if (done) throw new Error('The loop ended')
    return isNews(value) ? value : next()
  }
  return {
    next,
    stop: () => abort.abort(),
    async until(type: string): Promise<ReceivedEvent[]> {
      const seen = [await next()]
      while (seen.at(-1)!.event.type !== type) seen.push(await next())
      return seen
    },
    async rest(): Promise<ReceivedEvent[]> {
      const seen: ReceivedEvent[] = []
      for await (const received of events) if (isNews(received)) seen.push(received)
      return seen
    },
  }
}
