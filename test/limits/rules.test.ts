import { describe, expect, it } from 'vitest'
import { SECOND } from '../../lib/core/units.ts'
import { createLocalBuckets } from '../../lib/limits/buckets.ts'
import { type Decision, mostSpecific, type Rate, spend, toNetwork } from '../../lib/limits/rules.ts'

const START = 1_800_000_000 * SECOND

/** A bucket on a clock that one moves: `take()` is one request. */
function createBucket(rate: Rate) {
  let tat: number | undefined
  let now = START
  return {
    later: (seconds: number) => {
      now += Math.round(seconds * SECOND)
    },
    take(): Decision {
      const decision = spend(tat, now, rate)
      tat = decision.tat
      return decision
    },
    /** How many go through at once. */
    takeAll(): number {
      let count = 0
      while (this.take().allowed) count++
      return count
    },
  }
}

describe('a limit', () => {
  it.each([
    { requests_per_second: 1, burst: 1 },
    { requests_per_second: 500, burst: 1000 },
    { requests_per_second: 3, burst: 7 },
    { requests_per_second: 0.1, burst: 5 },
    { requests_per_second: 100 / 60, burst: 100 },
    { requests_per_second: 1_000_000, burst: 3 },
  ])('allows the burst at once, then the rate: %o', (rate) => {
    const bucket = createBucket(rate)
    expect(bucket.takeAll()).toBe(rate.burst)
    const interval = Math.max(1, Math.round(SECOND / rate.requests_per_second)) / SECOND
    for (let i = 0; i < 10; i++) {
      bucket.later(interval - 1 / SECOND)
      expect(bucket.take().allowed).toBe(false)
      bucket.later(1 / SECOND)
      expect(bucket.takeAll()).toBe(1)
    }
    bucket.later(interval * rate.burst * 3)
    expect(bucket.takeAll()).toBe(rate.burst)
  })

  it.each([
    { requests_per_second: 1, burst: 1 },
    { requests_per_second: 0.3, burst: 2 },
    { requests_per_second: 0.01, burst: 4 },
    { requests_per_second: 7, burst: 3 },
  ])('returns the exact time to wait, in whole seconds: %o', (rate) => {
    for (const passed of [0, 0.25, 0.5, 0.999999]) {
      const bucket = createBucket(rate)
      bucket.takeAll()
      bucket.later(passed)
      const refused = bucket.take()
      if (refused.allowed) continue
      const wait = refused.retry_after_seconds!
      expect(wait).toBeGreaterThanOrEqual(1)
      bucket.later(wait - 1)
      expect(bucket.take().allowed).toBe(false)
      bucket.later(1)
      expect(bucket.take().allowed).toBe(true)
    }
  })

  it('returns what is left, and when all of it is available again', () => {
    const bucket = createBucket({ requests_per_second: 0.5, burst: 3 })
    expect([bucket.take(), bucket.take(), bucket.take(), bucket.take()]).toMatchObject([
      { allowed: true, limit: 3, remaining: 2, reset_seconds: 2 },
      { allowed: true, limit: 3, remaining: 1, reset_seconds: 4 },
      { allowed: true, limit: 3, remaining: 0, reset_seconds: 6 },
      { allowed: false, limit: 3, remaining: 0, reset_seconds: 6, retry_after_seconds: 2 },
    ])
    bucket.later(6)
    expect(bucket.take()).toMatchObject({ allowed: true, remaining: 2 })
  })

  it.each([20, 3600])('makes no caller wait for a clock that stepped back by %i s to catch up', (seconds) => {
    const bucket = createBucket({ requests_per_second: 1, burst: 10 })
    bucket.takeAll()
    bucket.later(-seconds)
    expect(bucket.takeAll()).toBe(1)
    bucket.later(10)
    expect(bucket.takeAll()).toBe(10)
    bucket.later(3600)
    expect(bucket.takeAll()).toBe(10)
  })
})

it.each([
  [['GET /api/*', 'GET /api/users'], 'GET /api/users'],
  [['* /api/users', 'GET /api/users*'], '* /api/users'],
  [['* /api/users', 'GET /api/users'], 'GET /api/users'],
  [['GET /api/u*', 'GET /api/us*', 'GET *'], 'GET /api/us*'],
  [['* /api/us*', 'GET /api/u*'], '* /api/us*'],
  [['* /api/us*', 'GET /api/us*'], 'GET /api/us*'],
  [['POST /api/users', 'GET /api/user', 'GET /v1/*'], undefined],
  [[], undefined],
])('of %j, %j applies to GET /api/users', (patterns, expected) => {
  const parsed = (patterns as string[]).map((text) => {
    const [method = '', path_pattern = ''] = text.split(' ')
    return { method, path_pattern, text }
  })
  for (const order of [parsed, parsed.toReversed()])
    expect(mostSpecific(order, { method: 'GET', path: '/api/users' })?.text).toBe(expected)
})

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::', 'fe80:0:0:0::/64'],
  ['', ''],
])('the network of %j is %j', (address, network) => {
  expect(toNetwork(address)).toBe(network)
})

describe('buckets in memory', () => {
  const rate = { requests_per_second: 1, burst: 5 }

  it('stay bounded with a million callers, and keep those in use', () => {
    const buckets = createLocalBuckets(1000)
    for (let i = 0; i < 1_000_000; i++) {
      buckets.take(`caller-${i}`, START, rate)
      if (i % 500 === 0) buckets.take('busy', START, rate)
    }
    expect(buckets.size).toBe(1000)
    expect(buckets.take('busy', START, rate).allowed).toBe(false)
  })

  it('drop callers without recent requests', () => {
    const buckets = createLocalBuckets(100_000)
    for (let i = 0; i < 1000; i++) buckets.take(`caller-${i}`, START, rate)
    expect(buckets.size).toBe(1000)
    for (let i = 0; i < 1000; i++) buckets.take('the only one left', START + 2 * SECOND + i * SECOND, rate)
    expect(buckets.size).toBe(1)
  })
})
