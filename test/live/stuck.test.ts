import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it, vi } from 'vitest'
import { createChatApp } from '../../lib/http/app.ts'
import { createNodeListener } from '../../lib/http/node/listener.ts'
import { streamToWeb } from '../../lib/http/response/sse.ts'
import type { Sink } from '../../lib/live/readers/reader.ts'
import { openRaw, type RawEvent } from '../fault/raw-reader.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { innerState, startService } from '../support/service.ts'
import { followResponse, openStream } from '../support/stream.ts'
import { inTens, positionOf, range, seqOf, startReading, withSeq } from './readers.ts'

/** Together more than the system takes from a connection whose client reads nothing. */
const POSTS = 200
const CONTENT = 'x'.repeat(60_000)
const PATIENT = { timeout: 30_000 }

describeOnEachDatabase('a client that has missed events', (openUrl, dialect) => {
  const service = setUpService(async () =>
    startService(await openUrl(), { config: { server: { stalled_seconds: 1 } } }),
  )
  let thread: Awaited<ReturnType<typeof startReading>>
  /** The ids to resume from, of the two kinds of streams. */
  let from: { one: string; all: string }
  let last: string
  beforeAll(async () => {
    thread = await startReading(service)
    const { ada, conversation_id } = thread
    from = { one: await positionOf(ada, conversation_id), all: await positionOfAll() }
    await inTens(POSTS, () => ada.messages.postRoot(conversation_id, { content: CONTENT }))
    last = await positionOf(ada, conversation_id)
  })

  /** The position of a stream of all conversations. */
  async function positionOfAll(): Promise<string> {
    const stream = await openStream(service.base_url, undefined, { cookie: thread.cookie })
    const [ready] = await stream.until('stream.ready')
    await stream.close()
    return ready!.id!
  }

  async function dropped(): Promise<number> {
    const page = await (await fetch(`${service.base_url}/metrics`)).text()
    return Number(/^chat_streams_dropped_total (\d+)$/m.exec(page)![1])
  }

  it.each([
    ['a stream of one conversation', 'one'],
    ['a stream of all', 'all'],
  ] as const)('and reads nothing of %s is closed with too_slow, and resumes by its id', async (_, kind) => {
    const before = await dropped()
    const seen: RawEvent[] = []
    const options = {
      base_url: service.base_url,
      cookie: thread.cookie,
      last_event_id: from[kind],
      ...(kind === 'one' && { conversation_id: thread.conversation_id }),
    }
    const stuck = openRaw({ ...options, paused: true, onEvent: (event) => void seen.push(event) })
    await vi.waitUntil(async () => (await dropped()) > before, PATIENT)
    expect(innerState(service).streams.hub.size()).toBe(0)
    stuck.resume()
    expect(await stuck.over).toBe('ended')
    expect(seen.at(-1)!.event).toEqual({ type: 'stream.closed', payload: { reason: 'too_slow' } })
    const messages = (events: RawEvent[]) => events.filter(({ event }) => event.type === 'message.new').length
    expect(messages(seen)).toBeLessThan(POSTS)

    const rest: RawEvent[] = []
    const reached = seen.findLast(({ id }) => id !== undefined)!.id!
    const again = openRaw({ ...options, last_event_id: reached, onEvent: (event) => void rest.push(event) })
    await vi.waitUntil(() => messages(seen) + messages(rest) >= POSTS, PATIENT)
    again.cut()
    expect(messages(seen) + messages(rest)).toBe(POSTS)
  })

  it('and reads slowly gets all of them, however long each page takes', async () => {
    const before = await dropped()
    // The system takes little of a Unix domain socket, so that the page waits in the process.
    const host = createServer(createNodeListener(service.chat)).listen(
      join(tmpdir(), `chat-${dialect}-${process.pid}.sock`),
    )
    await once(host, 'listening')
    const socket = connect(host.address() as string)
    await once(socket, 'connect')
    const id = withSeq(last, seqOf(last) - 40)
    const path = `/api/stream/conversations/${thread.conversation_id}`
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\ncookie: ${thread.cookie}\r\nlast-event-id: ${id}\r\n\r\n`)
    const text = await readSlowly(socket, `id: ${last}\n`)
    const seqs = [...text.matchAll(/^id: [0-9a-f]+\.(\d+)$/gm)].map((match) => Number(match[1]))
    // The first one is of `stream.ready`.
    expect(seqs).toEqual([seqOf(id), ...range(seqOf(id), seqOf(last))])
    expect(await dropped()).toBe(before)
    socket.destroy()
    host.close()
  })

  it('and whose web response is not read is closed as well', async () => {
    const before = await dropped()
    const request = new Request(`http://x/api/stream/conversations/${thread.conversation_id}`, {
      headers: { cookie: thread.cookie, 'last-event-id': from.one },
    })
    const response = await createChatApp(service.chat).fetch(request)
    await vi.waitUntil(async () => (await dropped()) > before, PATIENT)
    const seen = await followResponse(response).until('stream.closed')
    expect(seen.at(-1)!.event.payload).toEqual({ reason: 'too_slow' })
  })
})

it('a web response that is not read to its end is forgotten', async () => {
  vi.useFakeTimers()
  try {
    let sink: Sink | undefined
    const connectTo = (opened: Sink) => {
      sink = opened
      return () => {}
    }
    const response = streamToWeb([], { connect: connectTo, cancel() {} })
    sink!.write({ bytes: new Uint8Array(200_000), events: [] })
    const all = sink!.pending()
    const reader = response.body!.getReader()
    await reader.read()
    expect((await reader.read()).value!.length).toBeLessThan(100_000)
    expect(sink!.pending()).toBeLessThan(all)
    sink!.end()
    await vi.advanceTimersByTimeAsync(5_000)
    await expect(reader.read()).rejects.toThrow('did not read')
  } finally {
    vi.useRealTimers()
  }
})

/** Reads 64 KiB at a time, with pauses: a page of a megabyte takes longer than a client may read nothing. */
async function readSlowly(socket: Socket, end: string): Promise<string> {
  const chunks: string[] = []
  socket.setEncoding('latin1')
  await new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk: string) => {
      chunks.push(chunk)
      if (`${chunks.at(-2) ?? ''}${chunk}`.includes(end)) return resolve()
      socket.pause()
      setTimeout(() => socket.resume(), 100)
    })
    socket.on('close', () => reject(new Error('The stream has ended')))
  })
  return chunks.join('')
}
