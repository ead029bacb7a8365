/**
 * Kills two nodes on one database at random moments while clients of all protocols read the same answers. It fails if the
 * text of an answer is not the same for all of them, if one of them has another end, or if a stop does not reach all.
 *
 * `tsx test/fault/doors.ts [kills] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { onDatabases } from './databases.ts'
import { crashDoors } from './doors/crashes.ts'
import { createRandom, newSeed } from './random.ts'

const [kills = '100', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, url }) => {
  const { faults, ...figures } = await crashDoors({
    url,
    kills: Number(kills),
    random: createRandom(seed),
    stop_ms: 1000,
    onKill: ({ kills: done, answers }) => {
      if (done % 10 === 0) console.log(`  ${done} kills, ${answers} answers`)
    },
  })
  const list = (counts: Record<string, number>) => Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  console.log(
    `${dialect}: ${figures.kills} kills, answers: ${list(figures.answers).join(', ')}, read ${figures.readings} times over ` +
      `${figures.connections} connections, ${figures.decisions} decisions, stopped by ${list(figures.stops).join(', ')}: ` +
      `all had the end within ${Math.round(figures.longest_stop_ms)} ms, half of them within ` +
      `${Math.round(figures.median_stop_ms)} ms, ${faults.length} faults`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault.slice(0, 2000)}`)
  if (faults.length > 0) process.exitCode = 1
})
