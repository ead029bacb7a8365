import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ChatError } from '../../../lib/index.ts'
import { createUnreadUpdates } from '../../../lib/live/hub/unread-updates.ts'
import type { Delivery } from '../../../lib/live/readers/delivery.ts'
import type { Reader, UnreadPlace } from '../../../lib/live/readers/reader.ts'
import { times } from '../../support/service.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const MAX_BUFFER = 1_000

/**
 * Updates of one conversation, in which these users follow every thread: without them, all. Each reply raises all numbers by one, and its
 * arrival is the number.
 */
function start({ isFollower = (_user_id: string): boolean => true, max_buffer_bytes = MAX_BUFFER } = {}) {
  const state = { count: 0, reads: [] as UnreadPlace[][], lists: 0, failures: [] as Error[], warnings: 0 }
  let beforeAnswer: (() => void | Promise<void>) | undefined
  const updates = createUnreadUpdates({
    max_buffer_bytes,
    log: { warn: () => state.warnings++ } as never,
    async listFollowing(_, userIds) {
      state.lists++
      const [failure] = state.failures.splice(0, 1)
      if (failure) throw failure
      return [...userIds].filter(isFollower)
    },
    async list(places) {
      state.reads.push(places)
      const [failure] = state.failures.splice(0, 1)
      if (failure) throw failure
      const { count } = state
      await turn()
      await beforeAnswer?.()
      return places.flatMap(({ user_id, conversation_id, root_id }) => {
        if (!isFollower(user_id)) return []
        const counts = { unread: count, unread_replies: count, conversation_unread: count, as_of: at(count) }
        return { user_id, event: { type: 'unread.update', payload: { conversation_id, root_id, ...counts } } }
      })
    },
  })

  function open(user_id: string) {
    const told: [root_id: string, unread: number][] = []
    let pending = 0
    const sink = {
      write({ bytes, events }: Delivery) {
        pending += bytes.length
        for (const { event } of events)
          if (event.type === 'unread.update') told.push([event.payload.root_id, event.payload.unread])
      },
      pending: () => pending,
    }
    const reader = { user_id, conversation_id: 'c', sink, closed: false, is_system: false } as unknown as Reader
    return {
      reader,
      told,
      pending: (bytes = pending) => {
        pending = bytes
        return pending
      },
    }
  }

  function write(readers: Reader[], event: object): void {
    const delivery = { bytes: Buffer.alloc(1), events: [{ event }] } as unknown as Delivery
    for (const reader of readers) {
      reader.sink.write(delivery)
      updates.sent(reader, delivery)
    }
  }

  return {
    state,
    updates,
    open,
    write,
    reply(readers: Reader[], root_id = 'r', author = 'author'): void {
      const message = { conversation_id: 'c', root_id, parent_id: root_id, author_user_id: author }
      const created_at = at(++state.count)
      write(readers, { type: 'message.new', payload: { message: { ...message, created_at } } })
    },
    whileReading(work: () => void | Promise<void>): void {
      beforeAnswer = async () => {
        beforeAnswer = undefined
        await work()
      }
    },
    async pass(ms: number): Promise<void> {
      await vi.advanceTimersByTimeAsync(ms)
      await updates.idle()
    },
  }
}

const at = (count: number) => `2026-11-27T10:00:00.${String(count).padStart(6, '0')}Z`

it('tell a reader of a reply at once, and of all further ones of a second by the last', async () => {
  const { open, reply, pass } = start()
  const { reader, told } = open('ada')
  reply([reader])
  await pass(0)
  expect(told).toEqual([['r', 1]])
  for (let n = 0; n < 5; n++) reply([reader])
  await pass(999)
  expect(told).toEqual([['r', 1]])
  await pass(1)
  expect(told).toEqual([
    ['r', 1],
    ['r', 6],
  ])
  reply([reader])
  await pass(999)
  expect(told).toHaveLength(2)
  await pass(1)
  expect(told.at(-1)).toEqual(['r', 7])
  await pass(5_000)
  expect(told).toHaveLength(3)
})

it('wait for each reader and thread alone', async () => {
  const { open, reply, pass, state } = start()
  const [ada, grace] = [open('ada'), open('grace')]
  reply([ada.reader, grace.reader], 'r', 'grace')
  await pass(0)
  reply([ada.reader, grace.reader], 'r', 'ada')
  reply([ada.reader, grace.reader], 's')
  await pass(0)
  expect(ada.told).toEqual([
    ['r', 1],
    ['s', 3],
  ])
  expect(grace.told).toEqual([
    ['r', 3],
    ['s', 3],
  ])
  // The readers of a delivery are read together.
  expect(state.reads.map((places) => places.length)).toEqual([1, 3])
  await pass(5_000)
  expect(state.reads).toHaveLength(2)
})

it('keep only the newest numbers for a reader that is behind, until it has read', async () => {
  const { open, reply, pass } = start()
  const [ada, grace] = [open('ada'), open('grace')]
  ada.pending(MAX_BUFFER)
  for (let n = 0; n < 20; n++) {
    reply([ada.reader, grace.reader], `r${n % 2}`)
    await pass(1_000)
    grace.pending(0)
  }
  expect(ada.told).toEqual([])
  // The replies themselves.
  expect(ada.pending()).toBe(MAX_BUFFER + 20)
  expect(grace.told).toHaveLength(20)
  ada.pending(0)
  await pass(1_000)
  expect(ada.told.sort()).toEqual([
    ['r0', 20],
    ['r1', 20],
  ])
})

it('read again what changed without a reply while it was read', async () => {
  const { open, reply, write, pass, whileReading, state } = start()
  const { reader, told } = open('ada')
  reply([reader])
  whileReading(() => {
    state.count = 0
    const counts = { unread: 0, unread_replies: 0, conversation_unread: 0, as_of: at(1) }
    write([reader], { type: 'unread.update', payload: { conversation_id: 'c', root_id: 'r', ...counts } })
  })
  await pass(0)
  // What the other event had is not followed by the numbers of before.
  expect(told).toEqual([
    ['r', 0],
    ['r', 0],
  ])
})

it('tell again after older numbers of a mark, which arrive late', async () => {
  const { open, reply, write, pass } = start()
  const { reader, told } = open('ada')
  reply([reader])
  reply([reader])
  await pass(0)
  const mark = { change: 'all_read', at: at(1), unread: 0, unread_replies: 0, as_of: at(1) }
  write([reader], { type: 'conversation.unread', payload: { conversation_id: 'c', ...mark } })
  await pass(1_000)
  expect(told).toEqual([
    ['r', 2],
    ['r', 2],
  ])
  write([reader], { type: 'conversation.unread', payload: { conversation_id: 'c', ...mark, as_of: at(2) } })
  await pass(5_000)
  expect(told).toHaveLength(2)
})

it('wait while the storage fails', async () => {
  const { open, reply, pass, state } = start()
  const { reader, told } = open('ada')
  state.failures.push(new ChatError('unavailable'), new ChatError('unavailable'))
  reply([reader])
  await pass(1_000)
  expect(told).toEqual([])
  await pass(1_000)
  expect(told).toEqual([['r', 1]])
  expect(state.warnings).toBe(1)
})

it('read a bounded number at once, and forget the readers that are closed', async () => {
  const { open, reply, pass, state, updates } = start()
  const crowd = times(1_000, (n) => open(`u${n}`))
  reply(crowd.map(({ reader }) => reader))
  await pass(0)
  expect(crowd.every(({ told }) => told.length === 1)).toBe(true)
  expect(Math.max(...state.reads.map((places) => places.length))).toBeLessThanOrEqual(200)
  reply(crowd.map(({ reader }) => reader))
  await pass(0)
  for (const { reader } of crowd) {
    reader.closed = true
    updates.leave(reader)
  }
  await pass(1_000)
  expect(state.reads).toHaveLength(5)
  expect(vi.getTimerCount()).toBe(0)
})

it('cost two look-ups where two of 5,000 readers follow the thread, and one where few read', async () => {
  const { open, reply, pass, state } = start({ isFollower: (user_id) => user_id === 'u3' || user_id === 'u4000' })
  const crowd = times(5_000, (n) => open(`u${n}`))
  reply(crowd.map(({ reader }) => reader))
  await pass(0)
  expect(crowd.flatMap(({ told }, n) => (told.length > 0 ? [n] : []))).toEqual([3, 4_000])
  expect([state.lists, state.reads.map((places) => places.length)]).toEqual([1, [2]])
  reply(
    crowd.slice(0, 5).map(({ reader }) => reader),
    's',
  )
  await pass(0)
  expect([state.lists, state.reads.map((places) => places.length)]).toEqual([1, [2, 5]])
})

it('wait while the followers cannot be read', async () => {
  const { open, reply, pass, state } = start()
  const crowd = times(300, (n) => open(`u${n}`))
  state.failures.push(new ChatError('unavailable'))
  reply(crowd.map(({ reader }) => reader))
  await pass(0)
  expect(crowd.every(({ told }) => told.length === 0)).toBe(true)
  await pass(1_000)
  expect(crowd.every(({ told }) => told.length === 1)).toBe(true)
})

it('read nothing for readers that are behind', async () => {
  const { open, reply, pass, state } = start()
  const { reader, pending } = open('ada')
  pending(MAX_BUFFER)
  reply([reader])
  for (let n = 0; n < 10; n++) await pass(1_000)
  expect(state.reads).toEqual([])
})

it('keep a bounded number of readers waiting, in all threads together', async () => {
  // The others take long with so many timers.
  vi.useRealTimers()
  const { open, reply, state, updates } = start({ max_buffer_bytes: Number.POSITIVE_INFINITY })
  const crowd = times(1_000, (n) => open(`u${n}`))
  for (let n = 0; n < 101; n++)
    reply(
      crowd.map(({ reader }) => reader),
      `r${n}`,
    )
  await updates.idle()
  expect(state.reads.flat()).toHaveLength(100_000)
  expect(crowd.every(({ told }) => told.length === 100)).toBe(true)
  // The next reply of a thread that was left out has its numbers.
  reply([crowd[0]!.reader], 'r100')
  await updates.idle()
  expect(crowd[0]!.told.at(-1)).toEqual(['r100', state.count])
  updates.close()
})

it('tell a reader that has missed much of a bounded number of threads', async () => {
  const { open, pass, updates } = start({ max_buffer_bytes: Number.POSITIVE_INFINITY })
  const { reader, told } = open('ada')
  const events = times(1_500, (n) => ({
    event: {
      type: 'message.new',
      payload: { message: { conversation_id: 'c', root_id: `r${n}`, parent_id: 'p', created_at: at(n) } },
    },
  }))
  updates.sent(reader, { bytes: Buffer.alloc(1), events } as unknown as Delivery)
  await pass(0)
  expect(told.map(([root_id]) => root_id)).toEqual(times(1_000, (n) => `r${n + 500}`))
})

it('leave no timer when they are closed', async () => {
  const { open, reply, pass, updates } = start()
  reply([open('ada').reader])
  await pass(0)
  expect(vi.getTimerCount()).toBe(1)
  updates.close()
  expect(vi.getTimerCount()).toBe(0)
})
