import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { describeOnEachDatabase } from '../support/databases.ts'
import { createRandom, newSeed } from './random.ts'
import { crashUploads } from './upload-crashes.ts'

describeOnEachDatabase('a service that is killed during uploads', (openUrl) => {
  it('has every byte that it has acknowledged, and the uploads go on', { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'chat-fault-uploads-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const run = { url: await openUrl(), folder, cycles: 2, uploads: 6, random: createRandom(seed) }
    expect(await crashUploads(run)).toMatchObject({ uploads: 12, faults: [] })
  })
})
