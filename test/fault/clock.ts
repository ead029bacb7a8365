/**
 * Steps the clocks of two nodes at random under load. It fails if anything is deleted that a right clock keeps, a session
 * ends, or an event is out of order.
 *
 * `tsx test/fault/clock.ts [steps] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { stepClocks } from './clock-steps.ts'
import { onDatabases } from './databases.ts'
import { createRandom, newSeed } from './random.ts'

const [steps = '1000', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, url }) => {
  const { faults, ...figures } = await stepClocks({ url, steps: Number(steps), random: createRandom(seed) })
  console.log(
    `${dialect}: ${figures.steps} steps, ${figures.messages} messages, ${faults.length} deleted, ended or disordered`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
})
