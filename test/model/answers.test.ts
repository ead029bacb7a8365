import { expect, it } from 'vitest'
import { createRandom, newSeed } from '../fault/random.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { walk } from './walk.ts'

describeOnEachDatabase('answers with tools', (openUrl) => {
  it.each([
    ['are', false],
    ['that are held back are', true],
  ])('%s where a model of their rules is, whatever happens on two nodes', { timeout: 240_000 }, async (_, hold) => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const { faults, operations, counts } = await walk(await openUrl(), {
      ...{ operations: 100, hold },
      random: createRandom(seed),
    })
    expect(faults, `seed ${seed}: ${faults.join('\n')}`).toEqual([])
    expect(operations).toBeGreaterThanOrEqual(100)
    expect(counts.vote).toBeGreaterThan(0)
  })
})
