import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createRetries } from '../../../lib/client/store/retries.ts'
import { ChatError } from '../../../lib/core/errors.ts'

const LOST = new TypeError('the response was lost')

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Retries of posts that always fail. */
function failing(error: unknown = LOST) {
  const sent: string[] = []
  const retries = createRetries((key) => {
    sent.push(key)
    retries.failed(key, error)
  })
  return { sent, retries }
}

it('sends a post that was not answered again after 1, 4 and 15 seconds, then each minute, and when the page is online', () => {
  const { sent, retries } = failing()
  const page = new EventTarget()
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page))
  retries.failed('a', LOST)
  for (const [ms, count] of [
    [999, 0],
    [1, 1],
    [3_999, 1],
    [1, 2],
    [14_999, 2],
    [1, 3],
    [59_999, 3],
    [1, 4],
    [59_999, 4],
    [1, 5],
  ] as const) {
    vi.advanceTimersByTime(ms)
    expect(sent).toHaveLength(count)
  }
  page.dispatchEvent(new Event('online'))
  expect(sent).toHaveLength(6)
  vi.advanceTimersByTime(1_000)
  expect(sent).toHaveLength(7)
  retries.end('a')
  page.dispatchEvent(new Event('online'))
  vi.advanceTimersByTime(600_000)
  expect(sent).toHaveLength(7)
  vi.unstubAllGlobals()
})

it('sends a post again whose body was too slow, and one that failed after the page came online again', () => {
  const { sent, retries } = failing(new ChatError('request_timeout'))
  const page = new EventTarget()
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page))
  retries.failed('a', LOST)
  vi.advanceTimersByTime(20_000)
  expect(sent).toHaveLength(3)
  // On its way when the network is back, it fails once more.
  page.dispatchEvent(new Event('online'))
  retries.failed('a', LOST)
  vi.advanceTimersByTime(600_000)
  expect(sent.length).toBeGreaterThan(6)
  retries.clear()
  vi.unstubAllGlobals()
})

it('waits as long as the service asks for, and sends nothing again that was refused', () => {
  const { sent, retries } = failing(new ChatError('forbidden'))
  retries.failed('a', new ChatError('rate_limited', { retry_after_seconds: 30 }))
  vi.advanceTimersByTime(29_999)
  expect(sent).toEqual([])
  vi.advanceTimersByTime(1)
  expect(sent).toEqual(['a'])
  vi.advanceTimersByTime(600_000)
  retries.resume()
  expect(sent).toEqual(['a'])
})

it('sends nothing while it is stopped, also of what fails then, and all of it afterwards', () => {
  const { sent, retries } = failing()
  retries.failed('a', LOST)
  retries.stop()
  retries.failed('b', LOST)
  vi.advanceTimersByTime(600_000)
  expect(sent).toEqual([])
  retries.resume()
  expect(sent).toEqual(['a', 'b'])
  retries.clear()
})

it('sends nothing after it was cleared', () => {
  const { sent, retries } = failing()
  retries.failed('a', LOST)
  retries.clear()
  vi.advanceTimersByTime(600_000)
  retries.resume()
  expect(sent).toEqual([])
})

it('never sends by itself what a quota refuses, also where the next month is further away than a timer can reach', () => {
  const quota = {
    scope: 'user',
    period: 'month',
    unit: 'answers',
    limit: 1,
    used: 1,
    resets_at: '2026-02-01T00:00:00Z',
  } as const
  const { sent, retries } = failing(new ChatError('rate_limited', { retry_after_seconds: 2_600_000, quota }))
  retries.failed('a', new ChatError('rate_limited', { retry_after_seconds: 2_600_000, quota }))
  vi.advanceTimersByTime(3_600_000)
  retries.resume()
  expect(sent).toEqual([])
})
