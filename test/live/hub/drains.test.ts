import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createDrains } from '../../../lib/live/hub/drains.ts'
import type { Reader } from '../../../lib/live/readers/reader.ts'

const SECONDS = 30

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A reader that was sent a page, and what became of it. */
function start(progress?: () => string | undefined) {
  const told = { closed: [] as string[], long: 0, isOver: false, drain: () => {} }
  const drained = () => new Promise<void>((resolve) => (told.drain = resolve))
  const reader = { closed: false, sink: { drained, ...(progress && { progress }) } } as unknown as Reader
  const drains = createDrains({
    stalled_seconds: SECONDS,
    close(each, reason) {
      told.closed.push(reason)
      Object.assign(each, { closed: true })
      drains.leave(each)
    },
    isLong: () => told.long++,
  })
  void drains.drained(reader).then(() => (told.isOver = true))
  return told
}

const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000)

it('closes a reader whose client reads nothing for the time, and not before', async () => {
  const told = start(() => 'the same')
  await pass(SECONDS)
  expect(told).toMatchObject({ closed: [], isOver: false })
  await pass(SECONDS / 6)
  expect(told).toMatchObject({ closed: ['too_slow'], isOver: true })
})

it('leaves a slow reader open, but reports that it is slow', async () => {
  let read = 0
  const told = start(() => `${read++}`)
  await pass(SECONDS)
  expect(told.long).toBe(0)
  await pass(9 * SECONDS)
  expect(told).toMatchObject({ closed: [], isOver: false })
  expect(told.long).toBeGreaterThan(0)
  told.drain()
  await pass(SECONDS / 6)
  expect(told).toMatchObject({ closed: [], isOver: true })
})

it('leaves a loop of the host open, however long it takes', async () => {
  const told = start()
  await pass(10 * SECONDS)
  expect(told.closed).toEqual([])
  expect(told.long).toBeGreaterThan(0)
  told.drain()
  await pass(0)
  expect(told.isOver).toBe(true)
})
