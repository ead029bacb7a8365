import { expect, it } from 'vitest'
import { describeOnEachDatabase } from '../support/databases.ts'
import { drain } from './drains.ts'
import { createRandom, newSeed } from './random.ts'

describeOnEachDatabase('a service that is stopped under load', (openUrl) => {
  it('answers every request, ends every stream with an event, and loses nothing', { timeout: 120_000 }, async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const options = { cycles: 2, streams: 50, writers: 8, random: createRandom(seed) }
    const figures = await drain({ ...options, url: await openUrl() })
    expect(figures.faults).toEqual([])
    expect(figures).toMatchObject({ cycles: 2, farewells: 100 })
  })
})
