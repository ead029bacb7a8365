import { expect, it } from 'vitest'
import { describeOnEachDatabase } from '../support/databases.ts'
import { stepClocks } from './clock-steps.ts'
import { createRandom, newSeed } from './random.ts'

describeOnEachDatabase('two nodes whose clocks step', (openUrl) => {
  it('delete nothing that a right clock keeps, end no session, and keep the order', { timeout: 120_000 }, async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const figures = await stepClocks({ url: await openUrl(), steps: 10, random: createRandom(seed) })
    expect(figures).toEqual({ steps: 10, messages: 20, faults: [] })
  })
})
