import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createChatClient } from '../../lib/client/index.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Follows a stream that has sent these events so far, and stays open. */
function follow(events: string) {
  const body = new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode(events)) })
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const client = createChatClient({ base_url: 'http://chat.test', fetch })
  const on_silence = vi.fn()
  const controller = new AbortController()
  const stream = client.events.followAll({ signal: controller.signal, on_silence })
  return { next: stream.next(), on_silence, end: () => controller.abort() }
}

it('tells that a stream is open but silent for fifteen seconds', async () => {
  const { on_silence, end } = follow(': held back\n\n')
  await vi.advanceTimersByTimeAsync(14_999)
  expect(on_silence).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(on_silence).toHaveBeenCalledOnce()
  end()
})

it('tells nothing of a stream that has begun', async () => {
  const { next, on_silence, end } = follow('data: {"type":"stream.ready","payload":{"resumed":false}}\n\n')
  expect(await next).toMatchObject({ value: { event: { type: 'stream.ready' } } })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(on_silence).not.toHaveBeenCalled()
  end()
})

it('refuses an unknown transport', () => {
  const create = () => createChatClient({ base_url: 'http://chat.test', transport: 'sse' as 'xhr' })
  expect(create).toThrow('"transport" must be one of auto, fetch, xhr, poll')
})
