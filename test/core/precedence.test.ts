import { expect, it } from 'vitest'
import { createPrecedence } from '../../lib/core/precedence.ts'

it('lets work go on when no request has arrived since the last turn', () => {
  let arrivals = 5
  const mayGoOn = createPrecedence(
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
  const mayGoOn = createPrecedence(
    () => arrivals++,
    () => now,
  )
  const went: number[] = []
  for (now = 0; now <= 120; now += 10) if (mayGoOn()) went.push(now)
  expect(went).toEqual([0, 50, 100])
})
