import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createPauses } from '../../../lib/core/scheduling/pauses.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

function start() {
  const passed: [owner: string, value: number][] = []
  return { passed, pauses: createPauses<string, number>(100, (value, owner) => passed.push([owner, value])) }
}

it('pass the last value that was held on at the end of a pause, and nothing that was not', () => {
  const { passed, pauses } = start()
  expect(pauses.hold('ada', 'a', 1)).toBe(false)
  pauses.begin('ada', 'a', 1)
  pauses.begin('ada', 'b', 1)
  pauses.begin('grace', 'a', 1)
  pauses.begin('grace', 'b', 1, { isHeld: true })
  for (const value of [2, 3]) expect(pauses.hold('ada', 'a', value)).toBe(true)
  vi.advanceTimersByTime(99)
  expect(passed).toEqual([])
  vi.advanceTimersByTime(1)
  expect(passed).toEqual([
    ['ada', 3],
    ['grace', 1],
  ])
  expect(pauses.hold('ada', 'a', 4)).toBe(false)
  vi.advanceTimersByTime(1_000)
  expect(passed).toHaveLength(2)
})

it('repeat the values of an owner that are meant', () => {
  const { passed, pauses } = start()
  for (const [n, key] of ['a', 'b', 'c'].entries()) pauses.begin('ada', key, n)
  pauses.begin('grace', 'c', 2)
  pauses.hold('ada', 'a', 0)
  pauses.repeat('ada', (value) => value === 2)
  vi.advanceTimersByTime(100)
  expect(passed).toEqual([
    ['ada', 0],
    ['ada', 2],
  ])
})

it('forget an owner that leaves, and all when they are closed, without a timer', () => {
  const { passed, pauses } = start()
  for (const owner of ['ada', 'grace']) for (const key of ['a', 'b']) pauses.begin(owner, key, 1, { isHeld: true })
  pauses.leave('ada')
  expect(vi.getTimerCount()).toBe(2)
  expect(pauses.hold('ada', 'a', 1)).toBe(false)
  pauses.close()
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(100)
  expect(passed).toEqual([])
})

it('are a bounded number: beyond it, nothing is held, until some have ended', () => {
  // The others take long with so many timers.
  vi.useRealTimers()
  const pauses = createPauses<string, number>(60_000, () => {})
  for (let n = 0; n < 10_001; n++) pauses.begin(`user ${n % 10}`, `${n}`, n)
  expect(pauses.hold('user 9', '9999', 1)).toBe(true)
  expect(pauses.hold('user 0', '10000', 1)).toBe(false)
  pauses.leave('user 1')
  pauses.begin('user 0', '10000', 1)
  expect(pauses.hold('user 0', '10000', 1)).toBe(true)
  pauses.close()
})
