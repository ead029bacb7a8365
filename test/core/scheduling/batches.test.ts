import { expect, it } from 'vitest'
import { createBatches } from '../../../lib/core/scheduling/batches.ts'
import { times } from '../../support/service.ts'

/** Runs items of these lengths, all added at once. @returns the number of items of each batch */
function sizesOf(lengths: number[]): Promise<number[]> {
  const sizes: number[] = []
  return new Promise((resolve) => {
    const batches = createBatches<number>(
      async (take) => {
        sizes.push(take().length)
        if (sizes.reduce((sum, size) => sum + size, 0) === lengths.length) resolve(sizes)
      },
      { lengthOf: (length) => length },
    )
    lengths.forEach(batches.add)
  })
}

it.each([
  ['256 items', times(600, () => 1), [256, 256, 88]],
  ['1 MiB', times(5, () => 400_000), [2, 2, 1]],
  ['one item, however long', [5_000_000, 1, 1], [1, 2]],
])('a batch has at most %s', async (_, lengths, expected) => {
  expect(await sizesOf(lengths)).toEqual(expected)
})

it('an item that is added before a batch takes its items is part of it', async () => {
  const taken: string[][] = []
  const add = await new Promise<(item: string) => void>((resolve) => {
    const batches = createBatches<string>(async (take) => {
      batches.add('late')
      taken.push(take())
    })
    resolve(batches.add)
  })
  add('early')
  await expect.poll(() => taken[0]).toEqual(['early', 'late'])
})

it('a batch waits for no more items than `most`, however many the last one had', async () => {
  const sizes: number[] = []
  const batches = createBatches<number>(async (take) => void sizes.push(take().length), {
    gathering: { batches: 2, ms: 2 ** 30, most: 4 },
  })
  for (const n of times(8, (n) => n)) batches.add(n)
  await expect.poll(() => sizes).toEqual([8])
  for (const n of times(4, (n) => n)) batches.add(n)
  await expect.poll(() => sizes).toEqual([8, 4])
})
