import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createOpenings } from '../../../lib/http/request/openings.ts'
import { times } from '../../support/service.ts'

it('open no more than some streams in a turn, in the order of arrival', async () => {
  const { turn } = createOpenings(() => true)
  const begun: number[] = []
  for (const n of times(100, (i) => i)) void turn().then(() => begun.push(n))
  const counts: number[] = []
  while (begun.length < 100) {
    await nextTurn()
    counts.push(begun.length)
  }
  expect(counts).toEqual([32, 64, 96, 100])
  expect(begun).toEqual(times(100, (i) => i))
})

it('wait until the work may go on', async () => {
  let mayGoOn = false
  const { turn } = createOpenings(() => mayGoOn)
  const begun: number[] = []
  for (const n of [1, 2]) void turn().then(() => begun.push(n))
  for (let turns = 0; turns < 10; turns++) await nextTurn()
  expect(begun).toEqual([])
  mayGoOn = true
  await nextTurn()
  await nextTurn()
  expect(begun).toEqual([1, 2])
})
