import { expect, it } from 'vitest'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'
import { createRandom, newSeed } from './random.ts'
import { crashShared, STEPS } from './shared-crashes.ts'

describeOnEachEmptyDatabase('a host that is killed in a shared transaction', (openUrl) => {
  it('has each of its rows with its message and its event, and none alone', { timeout: 120_000 }, async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const figures = await crashShared({ url: await openUrl(), kills: STEPS.length, random: createRandom(seed) })
    expect(figures.faults).toEqual([])
    expect(figures.lost).toBeGreaterThan(0)
  })
})
