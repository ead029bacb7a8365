import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createOpenings } from '../../lib/http/openings.ts'
import { times } from '../support/service.ts'

/** Openings at a time that the test sets, and which of the requests have begun. */
function open() {
  const clock = { ms: 1_000 }
  const openings = createOpenings(() => clock.ms)
  const begun: number[] = []
  const request = (n: number) => {
    openings.arrived()
    void openings.turn().then(() => begun.push(n))
  }
  return { ...openings, clock, begun, request }
}

it('open a stream after a turn in which no request has arrived', async () => {
  const { request, begun } = open()
  request(1)
  await nextTurn()
  expect(begun).toEqual([])
  await nextTurn()
  expect(begun).toEqual([1])
})

it('let streams wait for a short time while other requests arrive, and then open some together', async () => {
  const { request, arrived, clock, begun } = open()
  request(1)
  for (let turn = 0; turn < 10; turn++) {
    await nextTurn()
    arrived()
  }
  request(2)
  expect(begun).toEqual([])
  clock.ms += 50
  await nextTurn()
  await nextTurn()
  expect(begun).toEqual([1, 2])

  request(3)
  await nextTurn()
  arrived()
  await nextTurn()
  arrived()
  await nextTurn()
  expect(begun).toEqual([1, 2])
  await nextTurn()
  expect(begun).toEqual([1, 2, 3])
})

it('open no more than some in a turn, in the order of arrival', async () => {
  const { request, begun } = open()
  for (const n of times(100, (i) => i)) request(n)
  const counts: number[] = []
  while (begun.length < 100) {
    await nextTurn()
    counts.push(begun.length)
  }
  expect(counts).toEqual([0, 32, 64, 96, 100])
  expect(begun).toEqual(times(100, (i) => i))
})
