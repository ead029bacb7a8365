import { expect, it } from 'vitest'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'
import { createRandom, newSeed } from './random.ts'
import { crashReceive } from './receive-crashes.ts'

describeOnEachEmptyDatabase('a receiver and a service that are killed', (openUrl) => {
  it('apply each event once, in order', { timeout: 120_000 }, async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const [service, receiver] = [await openUrl(), await openUrl()]
    const figures = await crashReceive({ service, receiver, events: 300, kills: 6, random: createRandom(seed) })
    expect(figures.faults).toEqual([])
    expect(figures.events).toBeGreaterThan(200)
  })
})
