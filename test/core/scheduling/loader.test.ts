import { expect, it } from 'vitest'
import { createLoader } from '../../../lib/core/scheduling/loader.ts'
import { times } from '../../support/service.ts'

/** A loader of upper-case letters that records what it loads; it knows no key that is a number. */
function createRecorded() {
  const loads: string[][] = []
  const find = createLoader(async (keys) => {
    loads.push(keys)
    return new Map(keys.filter((key) => Number.isNaN(Number(key))).map((key) => [key, key.toUpperCase()]))
  })
  return { find, loads }
}

it('loads the keys of one turn together, each once', async () => {
  const { find, loads } = createRecorded()
  expect(await Promise.all([find('a'), find('b'), find('a'), find('7')])).toEqual(['A', 'B', 'A', undefined])
  expect(loads).toEqual([['a', 'b', '7']])
  expect(await find('a')).toBe('A')
  expect(loads).toHaveLength(2)
})

it('loads at most 256 keys together', async () => {
  const { find, loads } = createRecorded()
  await Promise.all(times(600, (n) => find(`key ${n}`)))
  expect(loads.map((keys) => keys.length)).toEqual([256, 256, 88])
})

it('fails the calls of a load that fails, and no later one', async () => {
  let isBroken = true
  const find = createLoader<string>(async (keys) => {
    if (isBroken) throw new Error('broken')
    return new Map(keys.map((key) => [key, key]))
  })
  const results = await Promise.allSettled([find('a'), find('b')])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  isBroken = false
  expect(await find('a')).toBe('a')
})
