/**
 * Kills a service and a program that pulls its events, and restarts the server of their databases. It fails unless the
 * effects in the program's database, which have no unique key, are the events in their order.
 *
 * `tsx test/fault/receive.ts [events] [kills of each side] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { onDatabases } from './databases.ts'
import { createRandom, newSeed } from './random.ts'
import { crashReceive } from './receive-crashes.ts'

const [events = '20000', kills = '20', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, url, another, restart }) => {
  const figures = await crashReceive({
    ...{ service: url, receiver: await another(), events: Number(events), kills: 2 * Number(kills) },
    ...(restart && { restart }),
    random: createRandom(seed),
  })
  const { faults } = figures
  console.log(
    `${dialect}: ${figures.events} events, ${figures.kills} kills, ${figures.restarts} restarts of the database, ${faults.length} faults`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
})
