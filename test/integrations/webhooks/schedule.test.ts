import { expect, it } from 'vitest'
import { parseRetryAfter } from '../../../lib/core/retry-after.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../lib/core/units.ts'
import {
  afterAttempt,
  type DeliveryState,
  earlyAt,
  hasFailedTooLong,
  type Pace,
  paceAfter,
  type StoredAttempt,
  UNSENT,
  wasAway,
} from '../../../lib/integrations/webhooks/rules-schedule.ts'
import { times } from '../../support/service.ts'

const NOW = Date.parse('2026-11-29T12:00:00Z') * 1000
const failed = (at: number): StoredAttempt => ({ at, ms: 5, error: 'connect' })

/** Numbers from 0 to 1, the same at every run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

it('makes ten attempts, ever later, each at most a fifth earlier or later, and then gives up', () => {
  const pauses = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]
  for (const seed of times(200, (n) => n)) {
    const random = createRandom(seed)
    let state: DeliveryState = UNSENT
    let at = NOW
    for (const pause of pauses) {
      state = afterAttempt(state, failed(at), random())
      expect(state.status).toBe('pending')
      expect(state.next_at! - at).toBeGreaterThanOrEqual(pause * 0.8 - 1)
      expect(state.next_at! - at).toBeLessThanOrEqual(pause * 1.2 + 1)
      at = state.next_at!
    }
    state = afterAttempt(state, failed(at), random())
    expect(state).toMatchObject({ status: 'dead', attempt_count: 10, next_at: null })
    expect(state.attempts).toHaveLength(10)
  }
})

it('counts no attempt that is made before its time, and keeps a bounded number of them', () => {
  let state = afterAttempt(UNSENT, failed(NOW), 0.5)
  state = afterAttempt(state, failed(state.next_at!), 0.5)
  const { next_at } = state
  for (const n of times(100, (n) => n)) state = afterAttempt(state, failed(state.attempts[1]?.at ?? NOW + n), 0.5)
  expect(state.attempt_count).toBe(2)
  expect(state.attempts.length).toBeLessThanOrEqual(20)
  expect(state.next_at).toBe(next_at)
  expect(afterAttempt(state, { at: NOW, ms: 1, status: 200 }, 0.5)).toMatchObject({
    status: 'delivered',
    next_at: null,
  })
})

it('never makes more calls at a time than are wanted, never none, and as many again after a while', () => {
  for (const parallel of [1, 3, 4, 16]) {
    const random = createRandom(parallel)
    let pace: Pace = { limit: parallel, successes: 0 }
    for (const _ of times(2_000, (n) => n)) {
      const status = [200, 200, 429, 500, 502, 503, 504][Math.floor(random() * 7)]!
      const before = pace.limit
      pace = paceAfter(pace, status === 200 ? { status } : { status, error: 'status' }, parallel)
      expect(pace.limit).toBeGreaterThanOrEqual(1)
      expect(pace.limit).toBeLessThanOrEqual(parallel)
      if (status === 500) expect(pace.limit).toBe(before)
      else if (status !== 200) expect(pace.limit).toBe(Math.max(1, Math.floor(before / 2)))
    }
    for (const _ of times(100, (n) => n)) pace = paceAfter(pace, { status: 204 }, parallel)
    expect(pace.limit).toBe(parallel)
  }
})

it.each<[string | undefined, number | undefined]>([
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['-5', undefined],
  ['0', undefined],
  ['1.5', undefined],
  ['30', NOW + 30 * SECOND],
  ['999999999', NOW + DAY],
  ['9999999999999', undefined],
  ['Sun, 29 Nov 2026 12:01:00 GMT', NOW + MINUTE],
  ['Sun, 29 Nov 2026 11:59:00 GMT', undefined],
  ['Sun, 29 Nov 2099 12:00:00 GMT', NOW + DAY],
  ['Sun, nonsense GMT', undefined],
])('takes Retry-After %j for the pause that it asks for', (text, until) => {
  expect(parseRetryAfter(text, NOW)).toBe(until)
})

it('knows a receiver that was away from one that refuses an event', () => {
  const away = [{ error: 'connect' }, { error: 'tls' }, { error: 'timeout' }, { error: 'status', status: 500 }]
  const there = [{ error: 'status', status: 400 }, { error: 'protocol' }, { error: 'dns' }, { status: 200 }]
  expect(away.every(wasAway)).toBe(true)
  expect(there.some(wasAway)).toBe(false)
  expect([earlyAt(NOW, 0), earlyAt(NOW, 3)]).toEqual([NOW, NOW + 15 * SECOND])
})

it('gives a webhook up after five days without a success', () => {
  expect(hasFailedTooLong(null, NOW)).toBe(false)
  expect(hasFailedTooLong(NOW - 5 * DAY + 1, NOW)).toBe(false)
  expect(hasFailedTooLong(NOW - 5 * DAY, NOW)).toBe(true)
})
