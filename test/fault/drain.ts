/**
 * Stops the service again and again while users write and read. It fails if any request or stream was cut off.
 *
 * `tsx test/fault/drain.ts [cycles] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { onDatabases } from './databases.ts'
import { drain } from './drains.ts'
import { createRandom, newSeed } from './random.ts'

const STREAMS = 500
const WRITERS = 16

const [cycles = '100', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, url }) => {
  const figures = await drain({
    url,
    cycles: Number(cycles),
    streams: STREAMS,
    writers: WRITERS,
    random: createRandom(seed),
    onCycle: ({ cycles: done, acknowledged, slowest, faults }) => {
      if (done % 10 === 0)
        console.log(`  ${done} stops, ${acknowledged} posts, ${faults.length} faults, ${slowest.toFixed(0)} ms at most`)
    },
  })
  const { acknowledged, farewells, resets, slowest, faults } = figures
  console.log(
    `${dialect}: ${figures.cycles} stops under load, each ended within ${slowest.toFixed(0)} ms; ` +
      `${acknowledged} posts acknowledged, ${farewells} streams told, ${faults.length} cut off or lost, ` +
      `${resets} connections reset before they were taken`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
})
