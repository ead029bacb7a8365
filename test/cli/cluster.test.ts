import { expect, it, vi } from 'vitest'
import { nextDelay } from '../../cli/cluster/backoff.ts'
import { asWorkerConfig } from '../../cli/cluster/messages.ts'
import { createMetricsRequests } from '../../cli/cluster/metrics-requests.ts'
import { createTotals } from '../../cli/cluster/totals.ts'
import { parseConfig } from '../../lib/config/parse.ts'
import { planReload } from '../../lib/config/reload.ts'
import type { Reading } from '../../lib/metrics/page.ts'
import { times } from '../support/service.ts'

it('replaces a worker at once, and one that dies young after one second doubling to thirty', () => {
  let delay = 0
  const delays = times(7, () => (delay = nextDelay(delay, 500)))
  expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  expect(nextDelay(30_000, 30_000)).toBe(0)
  expect(nextDelay(0, 500)).toBe(1_000)
})

it.each([
  [8080, 8080, []],
  [0, 0, []],
  [8080, 9090, ['server.port']],
])('has workers name the port as a key that needs a restart: from %i to %i', (port, next, needs_restart) => {
  const ofWorker = (configured: number) => asWorkerConfig(parseConfig({ server: { port: configured } }), 8080)
  expect(planReload(ofWorker(port), ofWorker(next))).toMatchObject({ changed: [], needs_restart })
})

const counter = (value: number, labels = {}): Reading => ({
  name: 'requests_total',
  help: 'Requests',
  type: 'counter',
  samples: [{ labels, value }],
})
const gauge = (name: string, value: number, together?: 'max'): Reading => ({
  name,
  help: 'A gauge',
  type: 'gauge',
  ...(together && { together }),
  samples: [{ value }],
})
const readingOf = (readings: Reading[], name: string) => readings.find((each) => each.name === name)?.samples[0]?.value

it('adds the counters and gauges of all workers, and takes the highest where each has the same', () => {
  const totals = createTotals()
  totals.update(1, [counter(3), gauge('open', 2), gauge('due', 7, 'max')])
  totals.update(2, [counter(4), gauge('open', 5), gauge('due', 6, 'max')])
  const page = totals.read(new Set([1, 2]))
  expect(['requests_total', 'open', 'due'].map((name) => readingOf(page, name))).toEqual([7, 7, 7])
})

it('keeps series with different labels apart', () => {
  const totals = createTotals()
  totals.update(1, [counter(3, { status: '200' })])
  totals.update(2, [counter(4, { status: '404' })])
  const [{ samples }] = totals.read(new Set([1, 2])) as [Reading]
  expect(samples.map(({ labels, value }) => [labels?.status, value])).toEqual([
    ['200', 3],
    ['404', 4],
  ])
})

it('keeps the counters of workers that have ended or do not respond, and not their gauges', () => {
  const totals = createTotals()
  totals.update(1, [counter(3), gauge('open', 2)])
  totals.update(2, [counter(4), gauge('open', 5)])
  const silent = totals.read(new Set([1]))
  expect([readingOf(silent, 'requests_total'), readingOf(silent, 'open')]).toEqual([7, 2])
  totals.end(2)
  const ended = totals.read(new Set([1]))
  expect([readingOf(ended, 'requests_total'), readingOf(ended, 'open')]).toEqual([7, 2])
  totals.update(3, [counter(1), gauge('open', 1)])
  totals.end(1)
  const replaced = totals.read(new Set([3]))
  expect([readingOf(replaced, 'requests_total'), readingOf(replaced, 'open')]).toEqual([8, 1])
})

it('never lets a counter fall, not even by the last digit of a sum in another order', () => {
  const totals = createTotals()
  const seconds = [0.1, 0.2, 0.3, 0.4, 0.7, 1e-9]
  for (const [index, value] of seconds.entries()) totals.update(index + 1, [counter(value)])
  let last = 0
  for (const worker of [2, 6, 4, 1, 5, 3]) {
    const value = readingOf(totals.read(new Set()), 'requests_total')!
    expect(value).toBeGreaterThanOrEqual(last)
    last = value
    totals.end(worker)
  }
  expect(readingOf(totals.read(new Set()), 'requests_total')).toBeGreaterThanOrEqual(last)
})

it('asks for the metrics of all workers, and goes on without those of a primary process that does not answer', async () => {
  vi.useFakeTimers()
  try {
    const requests: number[] = []
    const { ask, answered } = createMetricsRequests((request) => requests.push(request))
    const asked = [ask(), ask()]
    answered(requests[1]!, [counter(7)])
    expect(await asked[1]).toEqual([counter(7)])
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await asked[0]).toBeUndefined()
    answered(requests[0]!, [counter(8)])
    const again = ask()
    answered(requests[2]!, [counter(9)])
    expect(await again).toEqual([counter(9)])
  } finally {
    vi.useRealTimers()
  }
})
