import { expect, it } from 'vitest'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'
import { crashGrants } from './grant-crashes.ts'
import { createRandom, newSeed } from './random.ts'

describeOnEachEmptyDatabase('nodes that are killed while applications get tokens', (openUrl) => {
  it('lose no grant, and give tokens once for a code', { timeout: 120_000 }, async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const figures = await crashGrants({ url: await openUrl(), kills: 4, random: createRandom(seed) })
    expect(figures.faults).toEqual([])
    expect(figures.refreshes).toBeGreaterThan(0)
  })
})
