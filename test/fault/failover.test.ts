import { expect, it, onTestFinished } from 'vitest'
import { MEMORY } from '../support/memory.ts'
import { isInstalled, startCluster } from '../support/postgres.ts'
import { failOver } from './failovers.ts'

it.skipIf(!isInstalled())(
  'nodes whose PostgreSQL is replaced by a standby, or crashes, lose no post, and streams miss and repeat nothing',
  { timeout: 240_000 },
  async () => {
    const cluster = (await startCluster(MEMORY))!
    onTestFinished(() => cluster.stop())
    const { faults, acknowledged } = await failOver(cluster)
    expect(faults).toEqual([])
    expect(acknowledged).toBeGreaterThan(0)
  },
)
