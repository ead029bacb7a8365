import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createSqliteFile } from '../support/databases.ts'
import { KINDS, slowDown } from './slowness.ts'

const isInstalled = spawnSync('slowhttptest', ['-h']).error === undefined
if (!isInstalled) console.log('Tests of slow clients skipped: slowhttptest not found')

describe.skipIf(!isInstalled)('a service with many slow clients', () => {
  it.each(KINDS)('serves the others while they are slow with their %s', { timeout: 60_000 }, async (kind) => {
    const { url, remove } = await createSqliteFile()
    const figures = await slowDown({ url, kind, connections: 200, seconds: 5 })
    expect(figures).toMatchObject({ available: true, failed: 0 })
    expect(figures.calls).toBeGreaterThan(0)
    await remove()
  })
})
