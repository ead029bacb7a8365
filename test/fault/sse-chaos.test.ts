import { expect, it } from 'vitest'
import { describeOnEachDatabase } from '../support/databases.ts'
import { cutReaders } from './chaos.ts'
import { createRandom, newSeed } from './random.ts'

describeOnEachDatabase('readers that are cut off at random bytes', (openUrl) => {
  it('miss nothing, and get nothing twice', { timeout: 120_000 }, async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const figures = await cutReaders({ url: await openUrl(), readers: 5, reconnects: 50, random: createRandom(seed) })
    expect(figures).toMatchObject({ faults: [], missing: 0 })
    expect(figures.acknowledged).toBeGreaterThan(0)
  })
})
