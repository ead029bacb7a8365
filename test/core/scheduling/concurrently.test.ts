import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { forEachConcurrently } from '../../../lib/core/scheduling/concurrently.ts'

it('works on no more than some items at the same time, and on the next one when one ends', async () => {
  const begun: number[] = []
  const ends: (() => void)[] = []
  const all = forEachConcurrently([0, 1, 2, 3, 4], 2, (item) => {
    begun.push(item)
    return new Promise((end) => {
      ends[item] = end
    })
  })
  expect(begun).toEqual([0, 1])
  // The first one goes on.
  for (const [ended, expected] of [
    [1, [0, 1, 2]],
    [2, [0, 1, 2, 3]],
    [3, [0, 1, 2, 3, 4]],
  ] as const) {
    ends[ended]!()
    await nextTurn()
    expect(begun).toEqual(expected)
  }
  ends[0]!()
  ends[4]!()
  await all
})

it('fails with the first failure, when all others have ended', async () => {
  const ended: number[] = []
  const all = forEachConcurrently([0, 1, 2, 3], 2, async (item) => {
    await nextTurn()
    if (item < 2) throw new Error(`${item} failed`)
    ended.push(item)
  })
  await expect(all).rejects.toThrow('0 failed')
  expect(ended).toEqual([2, 3])
})
