import { expect, it } from 'vitest'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'
import { crashDoors } from './doors/crashes.ts'
import { createRandom, newSeed } from './random.ts'

describeOnEachEmptyDatabase('nodes that are killed while clients of all protocols read', (openUrl) => {
  it('have sent the same text to all of them, and a stop by any protocol ends all', { timeout: 180_000 }, async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const url = await openUrl()
    const figures = await crashDoors({ url, kills: 3, random: createRandom(seed), stop_ms: 15_000 })
    expect(figures.faults).toEqual([])
    expect(figures.kills).toBeGreaterThanOrEqual(3)
    expect(figures.connections).toBeGreaterThan(figures.readings)
  })
})
