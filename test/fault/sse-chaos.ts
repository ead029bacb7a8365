/**
 * Disconnects readers at random bytes while others write, and counts missed events. It fails if there are any.
 *
 * `tsx test/fault/sse-chaos.ts [reconnects | seconds as 60s] [sqlite | postgresql]`; CHAOS_SEED repeats a run.
 */
import { cutReaders } from './chaos.ts'
import { onDatabases } from './databases.ts'
import { createRandom, newSeed } from './random.ts'

const READERS = 50

const [amount = '10000', wanted] = process.argv.slice(2)
const duration = /^(\d+)s$/.exec(amount)?.[1]
const until = duration ? { seconds: Number(duration) } : { reconnects: Number(amount) }
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, url }) => {
  const started = performance.now()
  const { events, reconnects, acknowledged, missing, faults } = await cutReaders({
    url,
    readers: READERS,
    ...until,
    random: createRandom(seed),
  })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(
    `${dialect}: ${READERS} readers, ${reconnects} reconnects, ${acknowledged} messages, ` +
      `${events} events read in ${seconds} s, ${missing} missing, ${faults.length} faults`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (missing > 0 || faults.length > 0) process.exitCode = 1
})
