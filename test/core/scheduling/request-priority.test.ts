import { expect, it } from 'vitest'
import { createRequestPriority } from '../../../lib/core/scheduling/request-priority.ts'

it('lets work go on when no request has arrived since the last turn', () => {
  let arrivals = 5
  const mayGoOn = createRequestPriority(
    () => arrivals,
    () => 0,
  )
  expect([mayGoOn(), mayGoOn()]).toEqual([true, true])
  arrivals++
  expect([mayGoOn(), mayGoOn()]).toEqual([false, true])
})

it('lets it go on at intervals while requests arrive in every turn', () => {
  let arrivals = 0
  let now = 0
  const mayGoOn = createRequestPriority(
    () => arrivals++,
    () => now,
  )
  const went: [number, unknown][] = []
  for (now = 0; now <= 120; now += 10) {
    const go = mayGoOn()
    if (go) went.push([now, go])
  }
  // Nothing has waited before the first turn.
  expect(went).toEqual([
    [0, true],
    [50, 'overdue'],
    [100, 'overdue'],
  ])
})
