import { expect, it } from 'vitest'
import { MEMORY } from '../support/memory.ts'
import { isInstalled, startCluster } from '../support/postgres.ts'
import { failNodes } from './fleet-failures.ts'
import { createRandom, newSeed } from './random.ts'

const KILLS = 3

it.skipIf(!isInstalled())(
  'three nodes that die, hang and lose their database lose, repeat and reorder nothing',
  {
    timeout: 240_000,
  },
  async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const cluster = (await startCluster(MEMORY))!
    try {
      const { faults, ...figures } = await failNodes({
        url: cluster.url,
        kills: KILLS,
        pause_ms: 6_000,
        // Without a limit that matters: `npm run fault:nodes` has it.
        within_ms: 60_000,
        // A dead node is noticed sooner, so that the test takes less time.
        config: { cluster: { beat_seconds: 1, dead_seconds: 4 } },
        random: createRandom(seed),
        restartDatabase: () => cluster.restart(),
        onStep: () => {},
      })
      expect(faults).toEqual([])
      expect(figures).toMatchObject({ kills: KILLS, interrupted: KILLS })
    } finally {
      await cluster.stop()
    }
  },
)
