import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { describeOnEachDatabase } from '../support/databases.ts'
import { MEMORY } from '../support/memory.ts'
import { moveStorages } from './mount-moves.ts'
import { createRandom, newSeed } from './random.ts'

describeOnEachDatabase('two nodes whose storages are moved away and back', (openUrl) => {
  it('lose no file and no backup, mark none as gone, and heal', { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(MEMORY, 'chat-mount-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const { faults } = await moveStorages({ url: await openUrl(), folder, steps: 15, random: createRandom(seed) })
    expect(faults).toEqual([])
  })
})
