import { expect, it, onTestFinished } from 'vitest'
import { MEMORY } from '../support/memory.ts'
import { isInstalled, startCluster } from '../support/postgres.ts'
import { cutOff } from './cut-offs.ts'
import { startCutStage } from './cut-stage.ts'
import { inconsistenciesIn } from './invariants.ts'
import { createRandom, newSeed } from './random.ts'

/** A node is noticed sooner, so that the test takes less time. */
const SOON = { CHAT_CLUSTER__BEAT_SECONDS: '1', CHAT_CLUSTER__DEAD_SECONDS: '3' }

it.skipIf(!isInstalled())(
  'a node that is cut off from PostgreSQL refuses requests, and comes back without an event missed or repeated',
  { timeout: 240_000 },
  async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const cluster = (await startCluster(MEMORY))!
    onTestFinished(() => cluster.stop())
    const stage = await startCutStage(cluster.url, { random: createRandom(seed), env: SOON })
    onTestFinished(() => stage.close())
    // Without a limit that matters: `npm run fault:cut-off` has it, and other ways to lose the database.
    const options = { cut: 'late', name: 'late', least_ms: 0, within_ms: 60_000 } as const
    const { faults, ...figures } = await cutOff(stage, options)
    expect(faults).toEqual([])
    expect(figures.refused).toBeGreaterThan(0)
    expect(await inconsistenciesIn(cluster.url, { session: { max_sessions_per_user: false } })).toEqual([])
  },
)
