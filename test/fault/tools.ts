/**
 * Kills two nodes on one database at random moments while they run the tools of answers. It fails if a call has happened
 * twice, if an answer has no end or is held up for too long, or if it is not what its readers were told.
 *
 * `tsx test/fault/tools.ts [kills] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { onDatabases } from './databases.ts'
import { createRandom, newSeed } from './random.ts'
import { crashTools } from './tool-crashes.ts'

const [kills = '100', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, url }) => {
  const { faults, ...figures } = await crashTools({
    url,
    kills: Number(kills),
    random: createRandom(seed),
    onKill: ({ kills: done, runs }) => {
      if (done % 20 === 0) console.log(`  ${done} kills, ${runs} answers`)
    },
  })
  console.log(
    `${dialect}: ${figures.kills} kills, ${figures.runs} answers, ${figures.interrupted} of them interrupted, ` +
      `${figures.calls} calls that started ${figures.starts} times, ${figures.unknown} unknown, ` +
      `${figures.decisions} decisions, taken up within ${(figures.longest_ms / 1000).toFixed(1)} s, ` +
      `${figures.events} events read, ${figures.reconnects} reconnects, ${faults.length} faults`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
})
