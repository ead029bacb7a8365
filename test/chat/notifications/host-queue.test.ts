import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createHostQueue } from '../../../lib/chat/notifications/host-queue.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** A queue whose items are the calls themselves. */
function createQueue(sizeOf: () => number = () => 1) {
  const warnings: unknown[] = []
  const ends: boolean[] = []
  const log = { debug() {}, info() {}, warn: (_: string, fields?: unknown) => warnings.push(fields), error() {} }
  const queue = createHostQueue<() => unknown>({
    name: 'ports.notify',
    async *callsOf(call) {
      yield call
    },
    sizeOf,
    onEnd: (isDone) => ends.push(isDone),
    log,
  })
  return { queue, warnings, ends }
}

const hang = () => new Promise(() => {})

it('closes after two seconds although a call of the host hangs, and leaves no timer that keeps the process', async () => {
  const { queue, warnings, ends } = createQueue()
  const calls: string[] = []
  queue.add(() => calls.push('first'))
  for (let n = 0; n < 16; n++) queue.add(hang)
  queue.add(() => calls.push('late'))
  let isClosed = false
  const closing = queue.close().then(() => {
    isClosed = true
  })
  await vi.advanceTimersByTimeAsync(1_900)
  expect(isClosed).toBe(false)
  await vi.advanceTimersByTimeAsync(100)
  await closing
  expect(vi.getTimerCount()).toBe(0)
  expect(calls).toEqual(['first'])
  expect(ends.filter((isDone) => !isDone)).toHaveLength(16)
  expect(warnings).toEqual([{ cause: 'Error: the service was closed before it ended' }])
})

it('closes at once when no call is in progress, and makes the calls that wait before', async () => {
  const { queue, ends } = createQueue()
  for (let n = 0; n < 40; n++) queue.add(async () => n)
  await queue.close()
  expect(ends).toHaveLength(40)
  queue.add(hang)
  await queue.idle()
  expect([ends.length, vi.getTimerCount()]).toEqual([40, 0])
})

it('logs a call that takes longer than ten seconds, and goes on', async () => {
  const { queue, warnings, ends } = createQueue()
  queue.add(hang)
  await vi.advanceTimersByTimeAsync(10_000)
  await queue.idle()
  queue.add(() => {})
  await queue.idle()
  expect([warnings, ends]).toEqual([[{ cause: 'Error: it took longer than 10000 ms' }], [false, true]])
})

it('keeps a bounded number of notifications, however many of them are made at once', async () => {
  const { queue, warnings, ends } = createQueue(() => 1_000)
  for (let n = 0; n < 16; n++) queue.add(hang)
  for (let n = 0; n < 110; n++) queue.add(() => {})
  expect(warnings).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(10_000)
  await queue.idle()
  expect(ends).toHaveLength(16 + 100)
})
