import { expect, it } from 'vitest'
import { describeOnEachDatabase } from '../support/databases.ts'
import { createRandom, newSeed } from './random.ts'
import { crashRemovals } from './removal-crashes.ts'

describeOnEachDatabase('a removal whose process is killed', (openUrl) => {
  it('is continued to its end, stays hidden throughout, and leaves no text', { timeout: 120_000 }, async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const random = createRandom(seed)
    const figures = await crashRemovals({ url: await openUrl(), cycles: 1, messages: 300, random, lease: 'lapsed' })
    expect(figures.faults).toEqual([])
    const { conversation, person } = figures.interrupted
    expect(conversation + person).toBeGreaterThan(0)
  })
})
