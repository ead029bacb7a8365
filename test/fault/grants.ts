/**
 * Kills two nodes on one database at random moments while applications exchange codes and refresh tokens. It fails if a grant is
 * lost, or a code gives tokens twice.
 *
 * `tsx test/fault/grants.ts [kills] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { onDatabases } from './databases.ts'
import { crashGrants } from './grant-crashes.ts'
import { createRandom, newSeed } from './random.ts'

const [kills = '100', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, url }) => {
  const { faults, ...figures } = await crashGrants({ url, kills: Number(kills), random: createRandom(seed) })
  console.log(
    `${dialect}: ${figures.kills} kills, ${figures.exchanges} codes and ${figures.refreshes} refresh tokens gave others, ` +
      `${figures.unanswered} codes got no answer, ${faults.length} faults`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
})
