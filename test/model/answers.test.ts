import { expect, it } from 'vitest'
import { createRandom, newSeed } from '../fault/random.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { walk } from './walk.ts'

describeOnEachDatabase('answers with tools', (openUrl) => {
  it('are where a model of their rules is, whatever happens to them on two nodes', { timeout: 120_000 }, async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const { faults, operations, counts } = await walk(await openUrl(), { operations: 120, random: createRandom(seed) })
    expect(faults).toEqual([])
    expect(operations).toBeGreaterThanOrEqual(120)
    expect(counts.vote).toBeGreaterThan(0)
  })
})
