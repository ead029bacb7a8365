import { expect, it, onTestFinished, vi } from 'vitest'
import type { EventAfter, Log } from '../../../lib/context.ts'
import type { NumberedEvent } from '../../../lib/live/log/log.ts'
import { createAfterEvents } from '../../../lib/live/transaction/after-events.ts'
import { times } from '../../support/service.ts'

const UPDATED = { type: 'conversation.updated', payload: { conversation: {} } }

/** A commit with these events of one conversation. */
const commitOf = (conversation_id: string, first: number, last: number, known: NumberedEvent[] = []) => {
  const ids = times(last - first + 1, (n) => first + n)
  return { ranges: [{ conversation_id, first, last, known, ids }], privates: [] }
}

/** A queue whose host keeps every event until it is let go. */
function slowQueue() {
  const passed: EventAfter[] = []
  const warnings: string[] = []
  let letGo = () => {}
  const gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const log = { warn: (message: string) => void warnings.push(message) } as unknown as Log
  const queue = createAfterEvents({
    hook: async (event) => {
      passed.push(event)
      await gate
    },
    sourceOf: (conversation_id) => ({
      read: async (after, limit) => ({
        isLast: false,
        lines: times(limit, (i) => ({ seq: after + 1 + i, conversation_id, at: 0, event: UPDATED as never })),
      }),
    }),
    subjectsIn: async (events) => events.map(() => ({})),
    listHistories: async () => [{ first_id: 0, name: '0'.repeat(32), epoch: '' }],
    log,
  })
  return { queue, passed, warnings, letGo }
}

it('drops new events beyond a number of waiting ones, and says so once', async () => {
  const { queue, passed, warnings, letGo } = slowQueue()
  for (const n of times(200, (i) => i)) queue.committed(commitOf(`c${n}`, 1, 50))
  for (const n of times(20, (i) => i)) queue.committed(commitOf(`d${n}`, 1, 50))
  letGo()
  await queue.idle()
  expect(passed).toHaveLength(10_000)
  expect(passed.filter((event) => event.conversation_id.startsWith('d'))).toEqual([])
  expect(warnings).toEqual([expect.stringContaining('is too slow: 10000 events wait, new ones are dropped')])
  queue.committed(commitOf('c1', 51, 51))
  await queue.idle()
  expect(passed.at(-1)).toMatchObject({ conversation_id: 'c1', seq: 51 })
})

it('keeps the events themselves of a few that wait, and of up to 8 MiB; the others are read again', async () => {
  const large = (size: number) => ({ type: 'message.new', payload: { message: { content: 'x'.repeat(size) } } })
  const kept = async (count: number, size: number) => {
    const { queue, passed, letGo } = slowQueue()
    const event = large(size)
    for (const seq of times(count, (i) => i + 1))
      queue.committed(commitOf('c', seq, seq, [{ seq, conversation_id: 'c', at: 0, event: event as never }]))
    letGo()
    await queue.idle()
    expect(passed.map((each) => each.seq)).toEqual(times(count, (i) => i + 1))
    return passed.filter((each) => each.type === 'message.new').length
  }
  expect(await kept(600, 10)).toBe(500)
  expect(await kept(300, 128 * 1024)).toBeLessThan(64)
})

it('passes the events of one conversation on in their order, and takes none after it is closed', async () => {
  const { queue, passed, letGo } = slowQueue()
  for (const n of times(100, (i) => i + 1)) queue.committed(commitOf('c', n, n))
  letGo()
  await queue.close()
  expect(passed.map((event) => event.seq)).toEqual(times(100, (i) => i + 1))
  queue.committed(commitOf('c', 101, 101))
  await queue.idle()
  expect(passed).toHaveLength(100)
})

it('calls the functions of a type after the hook with the same object, until they are taken off; one that fails harms none', async () => {
  const calls: [string, EventAfter][] = []
  const warnings: string[] = []
  const queue = createAfterEvents({
    hook: (event) => void calls.push(['hook', event]),
    sourceOf: () => ({ read: async () => ({ isLast: true, lines: [] }) }),
    subjectsIn: async (events) => events.map(() => ({})),
    listHistories: async () => [{ first_id: 0, name: '0'.repeat(32), epoch: '' }],
    log: { warn: (message: string) => void warnings.push(message) } as unknown as Log,
  })
  const commit = async (seq: number) => {
    queue.committed(commitOf('c', seq, seq, [{ seq, conversation_id: 'c', at: 0, event: UPDATED as never }]))
    await queue.idle()
  }
  const offs = [
    queue.on('conversation.updated', () => {
      throw new Error('broken')
    }),
    queue.on('conversation.updated', () => new Promise(() => {})),
    queue.on('conversation.updated', (event) => calls.push(['first', event])),
    queue.on('message.new', (event) => calls.push(['other', event])),
  ]
  await commit(1)
  expect(calls.map(([name]) => name)).toEqual(['hook', 'first'])
  expect(calls[1]![1]).toBe(calls[0]![1])
  await commit(2)
  // One for each that fails, however often.
  expect(warnings).toEqual(['A function of chat.on has failed', 'A function of chat.on has failed'])
  for (const off of offs) off()
  await commit(3)
  expect(calls.map(([name]) => name)).toEqual(['hook', 'first', 'hook', 'first', 'hook'])
})

/** A queue whose events are known, and a log that has tombstones of them. */
function knownQueue(hook?: (event: EventAfter) => void) {
  const known = (seq: number) =>
    ({
      seq,
      conversation_id: 'c',
      at: 0,
      event: { type: 'message.new', payload: { message: { content: 'text' } } },
    }) as never
  const read = async (after: number) => {
    const event = { type: 'message.new', payload: { message: { content: null } } }
    return { isLast: true, lines: [{ seq: after + 1, conversation_id: 'c', at: 0, event: event as never }] }
  }
  const queue = createAfterEvents({
    hook,
    sourceOf: () => ({ read }),
    subjectsIn: async (events) => events.map(() => ({})),
    listHistories: async () => [{ first_id: 0, name: '0'.repeat(32), epoch: '' }],
    log: { warn: () => {} } as unknown as Log,
  })
  return { queue, known }
}

const contentOf = (event: EventAfter) => (event.type === 'message.new' ? event.payload.message.content : '')

it('reads an event again that has waited for a slow host: its message may be deleted by then', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const contents: unknown[] = []
  const { queue, known } = knownQueue((event) => {
    contents.push(contentOf(event))
    vi.advanceTimersByTime(event.seq === 1 ? 900 : 200)
  })
  queue.committed(commitOf('c', 1, 3, [known(1), known(2), known(3)]))
  queue.committed(commitOf('c', 4, 4, [known(4)]))
  await queue.idle()
  expect(contents).toEqual(['text', 'text', null, null])
})

it('gives the host objects of its own: what it changes in them is seen by no stream', async () => {
  const { queue, known } = knownQueue((event) => {
    if (event.type === 'message.new') event.payload.message.content = 'changed'
  })
  const line = known(1) as NumberedEvent
  queue.committed(commitOf('c', 1, 1, [line]))
  await queue.idle()
  expect(line.event).toMatchObject({ payload: { message: { content: 'text' } } })
})

it('calls no function with an event from before it was added, nor one that another has just taken off', async () => {
  const calls: string[] = []
  const { queue, known } = knownQueue()
  let offs: (() => void)[] = []
  queue.on('message.new', () => {
    calls.push('first')
    for (const off of offs) off()
  })
  queue.committed(commitOf('c', 1, 1, [known(1)]))
  offs = [queue.on('message.new', () => calls.push('late'))]
  await queue.idle()
  expect(calls).toEqual(['first'])
  offs.push(queue.on('message.new', () => calls.push('off')))
  queue.committed(commitOf('c', 2, 2, [known(2)]))
  await queue.idle()
  expect(calls).toEqual(['first', 'first'])
})
