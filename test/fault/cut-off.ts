/**
 * Cuts one of two nodes off from PostgreSQL, which the other one reaches. It fails if an event is missing, repeated or out
 * of order in any stream, the other node is affected, or anything takes more than 15 seconds.
 *
 * `tsx test/fault/cut-off.ts [seconds] [refused | late | lost]`; CHAOS_SEED repeats the choices of a run.
 */
import { CUTS, cutOff } from './cut-offs.ts'
import { startCutStage } from './cut-stage.ts'
import { onDatabases } from './databases.ts'
import { inconsistenciesIn } from './invariants.ts'
import { createRandom, newSeed } from './random.ts'

const WITHIN_MS = 15_000

const [seconds = '40', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases('postgresql', async ({ url }) => {
  const stage = await startCutStage(url, { random: createRandom(seed), env: {} })
  try {
    for (const [index, cut] of CUTS.entries()) {
      if (wanted !== undefined && cut !== wanted) continue
      const options = { cut, name: `${cut}${index}`, least_ms: Number(seconds) * 1000, within_ms: WITHIN_MS }
      const { faults, ...figures } = await cutOff(stage, options)
      console.log(cut, figures)
      for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
      if (faults.length > 0) process.exitCode = 1
    }
  } finally {
    await stage.close()
  }
  for (const fault of await inconsistenciesIn(url, { session: { max_sessions_per_user: false } })) {
    console.log(`  ${fault}`)
    process.exitCode = 1
  }
})
