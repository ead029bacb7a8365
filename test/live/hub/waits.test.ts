import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ConversationStreamEvent } from '../../../lib/chat/events/schema.ts'
import { createWaits } from '../../../lib/live/hub/waits.ts'
import type { Reader } from '../../../lib/live/readers/reader.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const TYPING = { type: 'typing.update' } as ConversationStreamEvent
const RESET = { type: 'stream.reset' } as ConversationStreamEvent
const ready = (resumed: boolean) =>
  ({ type: 'stream.ready', payload: { resumed, last_event_id: '' } }) as ConversationStreamEvent

/** A reader whose stream has begun with these events, and what it was sent. */
function start(wait_ms: number | undefined, ...begin: ConversationStreamEvent[]) {
  const types: string[] = []
  const sink = {
    write: ({ events }: { events: { event: ConversationStreamEvent }[] }) =>
      void types.push(...events.map(({ event }) => event.type)),
  }
  const reader = { sink, wait_ms, closed: false } as unknown as Reader
  const send = (...events: ConversationStreamEvent[]) =>
    reader.sink.write({ bytes: new Uint8Array(), events: events.map((event) => ({ event })) })
  const waits = createWaits({
    close(reader, reason) {
      reader.closed = true
      waits.leave(reader)
      send({ type: 'stream.closed', payload: { reason } })
    },
  })
  waits.add(reader)
  send(...(begin.length > 0 ? begin : [ready(true)]))
  return { waits, reader, types, send }
}

describe('a stream that waits', () => {
  it('ends when its time is over', () => {
    const { waits, reader, types } = start(25_000)
    waits.begin(reader)
    vi.advanceTimersByTime(24_999)
    expect(types).toEqual(['stream.ready'])
    vi.advanceTimersByTime(1)
    expect(types).toEqual(['stream.ready', 'stream.closed'])
  })

  it('ends with what follows from the first event, however many events come', () => {
    const { waits, reader, types, send } = start(25_000)
    waits.begin(reader)
    vi.advanceTimersByTime(10_000)
    send(TYPING)
    vi.advanceTimersByTime(249)
    send(TYPING, TYPING)
    vi.advanceTimersByTime(1)
    expect(types).toEqual(['stream.ready', 'typing.update', 'typing.update', 'typing.update', 'stream.closed'])
  })

  it('waits on after a heartbeat', () => {
    const { waits, reader, send } = start(25_000)
    waits.begin(reader)
    send()
    vi.advanceTimersByTime(24_999)
    expect(reader.closed).toBe(false)
  })

  it.each([
    ['that has no time to wait', 0, [ready(true)]],
    ['that begins at another position than its client named', 25_000, [ready(false), RESET]],
  ])('%s ends when it has begun', (_, wait_ms, begin) => {
    const { waits, reader, types } = start(wait_ms, ...begin)
    waits.begin(reader)
    expect(types).toEqual([...begin.map(({ type }) => type), 'stream.closed'])
  })

  it('waits where its client has no position yet', () => {
    const { waits, reader, types, send } = start(25_000, ready(false))
    waits.begin(reader)
    expect(types).toEqual(['stream.ready'])
    send(TYPING)
    vi.advanceTimersByTime(250)
    expect(types).toEqual(['stream.ready', 'typing.update', 'stream.closed'])
  })

  it('ends at once with missed events, and not before the last of them', () => {
    const { waits, reader, types, send } = start(25_000)
    send(TYPING)
    vi.advanceTimersByTime(60_000)
    send(TYPING)
    expect(types).toEqual(['stream.ready', 'typing.update', 'typing.update'])
    waits.begin(reader)
    expect(types.at(-1)).toBe('stream.closed')
  })
})

it('does not end a stream that stays open', () => {
  const { waits, reader, send } = start(undefined, ready(false))
  waits.begin(reader)
  send(TYPING)
  vi.advanceTimersByTime(60_000)
  expect(reader.closed).toBe(false)
})

it.each([
  ['nothing', () => {}],
  ['an event', (send: (event: ConversationStreamEvent) => void) => send(TYPING)],
])('leaves no timer behind a stream that is closed after %s', (_, before) => {
  const { waits, reader, send } = start(25_000)
  waits.begin(reader)
  before(send)
  reader.closed = true
  waits.leave(reader)
  send({ type: 'stream.closed', payload: { reason: 'draining' } })
  waits.begin(reader)
  expect(vi.getTimerCount()).toBe(0)
})
