/**
 * Kills the service at random moments while it removes a conversation or the messages of an erased user. It fails
 * unless the removal continues to its end and leaves nothing.
 *
 * `tsx test/fault/removals.ts [cycles] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { onDatabases } from './databases.ts'
import { createRandom, newSeed } from './random.ts'
import { crashRemovals } from './removal-crashes.ts'

const MESSAGES = 2_000

const [cycles = '5', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, url }) => {
  const { faults, ...figures } = await crashRemovals({
    url,
    cycles: Number(cycles),
    messages: MESSAGES,
    random: createRandom(seed),
    lease: 'awaited',
    onCycle: ({ cycles: done, faults }) => console.log(`  ${done} cycles, ${faults.length} faults`),
  })
  const { conversation, person } = figures.interrupted
  console.log(
    `${dialect}: ${2 * figures.cycles} removals of ${MESSAGES} messages, killed in the middle of ${conversation} conversations ` +
      `and ${person} people, at their end ${(figures.slowest_ms / 1000).toFixed(1)} s after the start at the latest, ` +
      `${faults.length} shown, left or inconsistent`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
})
