import { afterEach, expect, it, vi } from 'vitest'
import { createUptimeGate } from '../../../lib/core/scheduling/uptime-gate.ts'

afterEach(() => vi.restoreAllMocks())

it.each([
  ['at the start', [0], [true]],
  ['at its interval', [0, 2, 4, 6], [true, true, true, true]],
  ['after a short gap', [0, 6], [true, true]],
  ['after a gap', [0, 7, 9, 16, 23], [true, false, false, false, false]],
  ['for as long as silence counts after a gap', [0, 7, 9, 11, 13, 15, 17], [true, ...Array(5).fill(false), true]],
])('tells whether work has succeeded %s', (_, seconds, expected) => {
  const isSteady = createUptimeGate({ dead_after_ms: 10_000, interval_ms: 2_000 })
  const found = seconds.map((second) => {
    vi.spyOn(performance, 'now').mockReturnValue(second * 1000)
    return isSteady()
  })
  vi.restoreAllMocks()
  expect(found).toEqual(expected)
})
