import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createChatClient, type ReceivedEvent } from '../../lib/client/index.ts'
import { createChatApp } from '../../lib/http/app.ts'
import { createTestChat, type TestChat } from '../../lib/testing/index.ts'
// Loaded before the time stands still.
import '../../lib/client/poll.ts'
import { signedInFetch } from '../../lib/testing/signed-in-fetch.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const line = (type: string, payload: object, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ type, payload })}\n\n`
const READY = line('stream.ready', { resumed: true, last_event_id: '1' }, '1')
const CAUGHT_UP = line('stream.closed', { reason: 'caught_up' })
const POST = line('message.new', { message: { id: 'x' } }, '2')
const stream = (...lines: string[]) =>
  new Response(`retry: 2000\n\n${lines.join('')}`, { headers: { 'content-type': 'text/event-stream' } })
const failure = (status: number, code: string, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ type: `urn:chat-server:problem:${code}`, code }), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  })

/** A client that polls a service with these responses; `undefined` never comes, an error is one of the network. */
function poll(respond: (request: number) => Response | Error | undefined) {
  const calls: { at: number; search: string; last_event_id: string | null }[] = []
  const start = performance.now()
  const client = createChatClient({
    base_url: 'http://chat.test',
    transport: 'poll',
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers)
      const at = Math.round(performance.now() - start)
      calls.push({ at, search: new URL(String(input)).search, last_event_id: headers.get('last-event-id') })
      const response = respond(calls.length)
      if (response instanceof Error) throw response
      return (
        response ??
        new Promise((_, reject) => {
          init?.signal?.addEventListener('abort', () => reject(init.signal!.reason))
        })
      )
    },
  })
  const controller = new AbortController()
  const [on_silence, on_disconnect] = [vi.fn(), vi.fn()]
  const received: ReceivedEvent[] = []
  const over = (async () => {
    for await (const each of client.events.followAll({ signal: controller.signal, on_silence, on_disconnect }))
      received.push(each)
  })()
  over.catch(() => {})
  const end = async () => {
    controller.abort()
    await over
    expect(vi.getTimerCount()).toBe(0)
  }
  return { calls, received, on_silence, on_disconnect, over, end }
}

it('asks for the next events at the last id, and shows no end between two responses', async () => {
  const { calls, received, on_disconnect, end } = poll((n) => (n === 1 ? stream(READY, POST, CAUGHT_UP) : undefined))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(calls).toEqual([
    { at: 0, search: '?once=true&wait_seconds=0', last_event_id: null },
    { at: 250, search: '?once=true&wait_seconds=25', last_event_id: '2' },
  ])
  expect(received.map(({ event }) => event.type)).toEqual(['stream.ready', 'message.new'])
  expect(on_disconnect).not.toHaveBeenCalled()
  await end()
})

it('reads the position and the count when a request waits, since ephemeral events before it are lost', async () => {
  let answer = (_: Response) => {}
  const COUNT = line('notifications.count', { unread: 3 })
  const { calls, received, end } = poll((n) => {
    if (n === 2) return new Promise<Response>((resolve) => (answer = resolve)) as unknown as Response
    return n > 3 ? undefined : n === 1 ? stream(READY, CAUGHT_UP) : stream(READY, COUNT, POST, CAUGHT_UP)
  })
  await vi.advanceTimersByTimeAsync(1_249)
  expect(received.map(({ event }) => event.type)).toEqual(['stream.ready'])
  await vi.advanceTimersByTimeAsync(1)
  expect(calls.at(-1)).toEqual({ at: 1_250, search: '?once=true&wait_seconds=0', last_event_id: '1' })
  // The request that waits has the post as well.
  expect(received.slice(1).map(({ event }) => event.type)).toEqual(['stream.ready', 'notifications.count'])
  await vi.advanceTimersByTimeAsync(20_000)
  expect(calls).toHaveLength(3)
  answer(stream(READY, COUNT, POST, CAUGHT_UP))
  await vi.advanceTimersByTimeAsync(1)
  expect(received.slice(3).map(({ event }) => event.type)).toEqual([
    'stream.ready',
    'notifications.count',
    'message.new',
  ])
  expect(calls.at(-1)).toMatchObject({ search: '?once=true&wait_seconds=25', last_event_id: '2' })
  await end()
})

it('goes on with the events when reading the count fails, or does not end', async () => {
  for (const count of [failure(503, 'unavailable'), undefined]) {
    let answer = (_: Response) => {}
    const { received, on_disconnect, end } = poll((n) => {
      if (n === 2) return new Promise<Response>((resolve) => (answer = resolve)) as unknown as Response
      return n === 1 ? stream(READY, CAUGHT_UP) : n === 3 ? count : undefined
    })
    await vi.advanceTimersByTimeAsync(10_000)
    answer(stream(READY, POST, CAUGHT_UP))
    await vi.advanceTimersByTimeAsync(1)
    expect(received.map(({ event }) => event.type)).toEqual(['stream.ready', 'stream.ready', 'message.new'])
    expect(on_disconnect).not.toHaveBeenCalled()
    await end()
  }
})

it('ends its request when the loop is left', async () => {
  const signals: AbortSignal[] = []
  const client = createChatClient({
    base_url: 'http://chat.test',
    transport: 'poll',
    fetch: async (_, init) => {
      signals.push(init!.signal!)
      return signals.length === 2 ? new Promise(() => {}) : stream(READY, CAUGHT_UP)
    },
  })
  const events = client.events.followAll()
  await events.next()
  const second = events.next()
  await vi.advanceTimersByTimeAsync(1_250)
  expect(await second).toMatchObject({ value: { event: { type: 'stream.ready' } } })
  expect(signals[1]!.aborted).toBe(false)
  await events.return(undefined)
  expect(signals[1]!.aborted).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})

it('asks at most four times a second, whatever comes', async () => {
  const { calls, end } = poll((n) => stream(READY, n % 2 ? POST : '', CAUGHT_UP))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(calls).toHaveLength(41)
  await end()
})

it('asks at once after a response that has taken its time', async () => {
  let answer = (_: Response) => {}
  const { calls, end } = poll((n) => {
    if (n > 1) return undefined
    const late = new Promise<Response>((resolve) => (answer = resolve))
    return late as unknown as Response
  })
  await vi.advanceTimersByTimeAsync(25_000)
  answer(stream(READY, CAUGHT_UP))
  await vi.advanceTimersByTimeAsync(1)
  expect(calls.map(({ at }) => at)).toEqual([0, 1_000, 25_000])
  await end()
})

it.each([
  ['a lost connection', () => new TypeError('fetch failed'), 2_000],
  ['a response that was cut', () => stream(READY), 2_000],
  ['a process that stops', () => stream(READY, line('stream.closed', { reason: 'draining' })), 2_000],
  ['a refusal with a time', () => failure(429, 'rate_limited', { 'retry-after': '7' }), 7_000],
])('waits longer after each of %s', async (_, respond, least) => {
  const { calls, on_disconnect, end } = poll(respond)
  await vi.advanceTimersByTimeAsync(60_000)
  const pauses = calls.slice(1).map(({ at }, index) => at - calls[index]!.at)
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(least)
  expect(on_disconnect).toHaveBeenCalledTimes(calls.length)
  await end()
})

it('tells of each request that brings nothing for fifteen seconds after its wait', async () => {
  const { on_silence, end } = poll((n) => (n === 1 ? stream(READY, CAUGHT_UP) : undefined))
  await vi.advanceTimersByTimeAsync(250 + 39_999)
  expect(on_silence).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(on_silence).toHaveBeenCalledOnce()
  await end()
})

it.each([
  ['the session ends', () => stream(READY, line('stream.closed', { reason: 'session_ended' }))],
  ['the session has ended between two requests', () => failure(401, 'unauthenticated')],
])('ends when %s', async (_, respond) => {
  const { calls, over } = poll((n) => (n === 1 ? stream(READY, CAUGHT_UP) : respond()))
  await vi.advanceTimersByTimeAsync(250)
  await over
  expect(calls).toHaveLength(2)
  expect(vi.getTimerCount()).toBe(0)
})

it('throws the refusal of its first request', async () => {
  const { over } = poll(() => failure(401, 'unauthenticated'))
  await expect(over).rejects.toMatchObject({ code: 'unauthenticated' })
})

it('gets every event of a conversation from a service', async () => {
  vi.useRealTimers()
  const test: TestChat = await createTestChat({ users: ['ada', 'grace'] })
  const app = createChatApp(test.chat, { addressOf: () => '127.0.0.1' })
  const send: typeof fetch = async (input, init) => app.fetch(new Request(input, init))
  const fetch = signedInFetch(test.chat, test.actor('ada'), send)
  const client = createChatClient({ base_url: 'http://chat.test', transport: 'poll', fetch })
  const { conversation_id } = await client.conversations.create({ title: 'Engines' })
  const { stream_position: last_event_id = '' } = await client.conversations.get(conversation_id)
  const posts = [...Array(30).keys()].map(String)
  const posting = (async () => {
    for (const content of posts) await client.messages.postRoot(conversation_id, { content })
  })()
  const contents: string[] = []
  for await (const { event } of client.events.follow(conversation_id, { last_event_id })) {
    if (event.type === 'message.new') contents.push(event.payload.message.content)
    if (contents.length === posts.length) break
  }
  await posting
  expect(contents).toEqual(posts)
  await test.close()
})
