import { afterEach, expect, it, vi } from 'vitest'
import { createBackoff, parseRetryAfter } from '../../lib/client/backoff.ts'
import { times } from '../support/service.ts'

afterEach(() => void vi.restoreAllMocks())

const longest = () => vi.spyOn(Math, 'random').mockReturnValue(1)
const shortest = () => vi.spyOn(Math, 'random').mockReturnValue(0)

it("waits two seconds, or the server's retry time, plus up to half as much at random", () => {
  shortest()
  expect(createBackoff().next()).toBe(2_000)
  const backoff = createBackoff()
  backoff.setPause(4_000)
  expect(backoff.next()).toBe(4_000)
  longest()
  expect(createBackoff().next()).toBe(3_000)
})

it('doubles the wait each time, up to a minute, until a stream opens', () => {
  shortest()
  const backoff = createBackoff()
  expect(times(7, () => backoff.next())).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  times(2_000, () => backoff.next())
  expect(backoff.next()).toBe(60_000)
  backoff.opened()
  expect(backoff.next()).toBe(2_000)
})

it('waits the configured time, whatever the server sends', () => {
  shortest()
  const backoff = createBackoff(10)
  backoff.setPause(4_000)
  expect([backoff.next(), backoff.next()]).toEqual([10, 20])
  expect(createBackoff(0).next()).toBe(0)
})

it("waits at least the server's retry time, and at most a minute and a half", () => {
  shortest()
  expect(createBackoff().next(10_000)).toBe(10_000)
  longest()
  expect(createBackoff().next(1e12)).toBe(90_000)
  const backoff = createBackoff()
  backoff.setPause(Number('9'.repeat(400)))
  expect(backoff.next()).toBe(90_000)
})

it('does not reconnect all clients at the same moment', () => {
  const backoff = times(100, () => createBackoff().next())
  expect(new Set(backoff).size).toBeGreaterThan(90)
})

it.each<[header: string | null, seconds: number | undefined]>([
  [null, undefined],
  ['', undefined],
  ['soon', undefined],
  ['-1', 0],
  ['0', 0],
  ['12', 12],
  ['0.5', 0.5],
  ['Fri, 20 Nov 2026 10:00:30 GMT', 30],
  ['Fri, 20 Nov 2026 09:59:30 GMT', 0],
])('reads a Retry-After of %j as %j', (header, seconds) => {
  expect(parseRetryAfter(header, Date.UTC(2026, 10, 20, 10))).toBe(seconds)
})
