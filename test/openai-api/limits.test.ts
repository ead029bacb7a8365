import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { createChunkStreams } from '../../lib/http/response/chunk-streams.ts'
import { echoInPieces } from '../../lib/openai-api/rules.ts'
import { setUpService } from '../support/describe-service.ts'
import { codeOf, startService, times } from '../support/service.ts'

const service = setUpService(() =>
  startService('sqlite::memory:', { config: { server: { trusted_proxies: ['127.0.0.1'] } } }),
)

const LONG = { model: 'gpt-4', messages: times(700, () => ({ role: 'user' as const, content: 'a b c d e f' })) }

const send = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${service.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

it('accepts 64 KiB and no more', async () => {
  const response = await send({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(65_536) }] })
  expect(response.status).toBe(413)
  expect((await response.json()).error.code).toBe('payload_too_large')
})

it('sends at least 64 characters per chunk, and all of the text', () => {
  for (const content of [
    'word '.repeat(200),
    'x'.repeat(1_000),
    'ab',
    ' '.repeat(300),
    `${'é'.repeat(127)} x`,
    '\n\n',
  ]) {
    const head = { id: 'i', created: 1, model: 'm' }
    const chunks = [...echoInPieces(head, { model: 'm', messages: [{ role: 'user', content }] })]
    const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.content || [])
    expect(pieces.join('')).toBe(content)
    for (const piece of pieces.slice(0, -1)) expect(piece.length).toBeGreaterThanOrEqual(64)
  }
})

/**
 * An answer of 9 MB, more than the sockets of both ends keep: while its client reads nothing, its stream stays open.
 * Each of three pieces for a message repeats the name of the model, which JSON makes six times as long.
 */
const UNREAD = JSON.stringify({
  model: '\u0001'.repeat(256),
  messages: times(1_800, () => ({ role: 'user', content: 'x' })),
  stream: true,
})

it.each([
  ['an address', ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.1'], '192.0.2.1', '192.0.2.2'],
  [
    'a network of IPv6',
    ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::', '2001:db8::1'],
    '2001:db8::3',
    '2001:db8:0:1::1',
  ],
])('returns 429 for the fifth open stream of %s, and serves other addresses', async (_, addresses, same, another) => {
  const sockets: Socket[] = []
  await Promise.all(
    addresses.map((address) => {
      const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1').pause()
      sockets.push(socket)
      const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${address}\r\n`
      socket.write(`${head}content-type: application/json\r\ncontent-length: ${UNREAD.length}\r\n\r\n${UNREAD}`)
      return once(socket, 'readable')
    }),
  )
  const stream = (address: string) => send({ ...LONG, stream: true }, { 'x-forwarded-for': address })
  const fifth = await stream(same)
  expect([fifth.status, fifth.headers.get('retry-after')]).toEqual([429, '1'])
  expect((await fifth.json()).error).toMatchObject({ type: 'invalid_request_error', code: 'too_many_streams' })
  // An answer in one is none of them.
  expect((await send(LONG, { 'x-forwarded-for': same })).status).toBe(200)
  const other = await stream(another)
  expect(other.status).toBe(200)
  await other.body!.cancel()

  for (const socket of sockets) socket.destroy()
  await expect
    .poll(async () => {
      const again = await stream(same)
      await again.body!.cancel()
      return again.status
    })
    .toBe(200)
})

it('counts streams by address and in all, and frees their places however they end', async () => {
  const streams = createChunkStreams({ per_address: 2, in_all: 3, seconds: 60 })
  const begin = (address?: string) => streams.begin([{ a: 1 }], address)
  const refusal = (address?: string) => codeOf(Promise.resolve().then(() => begin(address)))
  const first = begin('a')
  const second = begin('a')
  expect(await refusal('a')).toBe('too_many_streams')
  const third = begin()
  expect(await refusal('b')).toBe('unavailable')
  expect(await new Response(first).text()).toContain('[DONE]')
  await second.cancel()
  await third.cancel()
  for (const stream of [begin('a'), begin('a')]) await stream.cancel()
})

it('ends a stream that is not read in time', async () => {
  const streams = createChunkStreams({ per_address: 1, in_all: 1, seconds: 0.05 })
  const endless = (function* () {
    for (;;) yield 'x'
  })()
  const reader = streams.begin(endless).getReader()
  const closed = expect(reader.closed).rejects.toThrow('not read in time')
  await reader.read().catch(() => {})
  await closed
  await streams.begin([]).cancel()
})
