import { expect, it } from 'vitest'
import { readEvents } from '../../lib/client/event-stream.ts'
import type { WireEvent } from '../../lib/core/sse-format.ts'

const TEXT = [
  'retry: 2000\n\n',
  ': a comment\n\n',
  'id: a.1\nevent: message.new\ndata: {"text":"grüß 🥊"}\n\n',
  'event: thread.activity\ndata: {}\n\n',
  'id:a.2\r\ndata:first\r\ndata: second\r\n\r\n',
  'event: without data\n\n',
  'id: a.3\ndata: never ended',
].join('')

const EVENTS: WireEvent[] = [
  { id: 'a.1', type: 'message.new', data: '{"text":"grüß 🥊"}' },
  { type: 'thread.activity', data: '{}' },
  { id: 'a.2', type: 'message', data: 'first\nsecond' },
]

function inPieces(bytes: Uint8Array, sizes: (index: number) => number): ReadableStream<Uint8Array> {
  let at = 0
  let index = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      const end = at + sizes(index++)
      controller.enqueue(bytes.slice(at, end))
      at = end
    },
  })
}

async function read(stream: ReadableStream<Uint8Array>): Promise<WireEvent[]> {
  const events: WireEvent[] = []
  for await (const event of readEvents(stream)) events.push(event)
  return events
}

it('reads the same events however the bytes arrive', async () => {
  const bytes = new TextEncoder().encode(TEXT)
  expect(await read(inPieces(bytes, () => 1))).toEqual(EVENTS)
  for (let first = 1; first <= bytes.length; first++) {
    expect(await read(inPieces(bytes, (index) => (index === 0 ? first : bytes.length)))).toEqual(EVENTS)
  }
})

it('cancels the stream when its reader leaves', async () => {
  let cancelled = false
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('data: x\n\n')),
    cancel() {
      cancelled = true
    },
  })
  for await (const _ of readEvents(stream)) break
  expect(cancelled).toBe(true)
})

it('fails when the stream does', async () => {
  const stream = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new TypeError('lost')) })
  await expect(read(stream)).rejects.toThrow('lost')
})
