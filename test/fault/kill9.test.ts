import { expect, it } from 'vitest'
import { describeOnEachDatabase } from '../support/databases.ts'
import { crash } from './crashes.ts'
import { createRandom, newSeed } from './random.ts'

describeOnEachDatabase('a service that is killed', (openUrl) => {
  it('has kept every acknowledged message, every session, and each reader’s position', {
    timeout: 60_000,
  }, async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const figures = await crash({ url: await openUrl(), cycles: 2, posts: 100, random: createRandom(seed) })
    expect(figures.faults).toEqual([])
    expect(figures).toMatchObject({ cycles: 2, reconnects: 8 })
  })
})
