/**
 * Kills a host between its row and the commit of a transaction that it shares with the service. It fails unless each row
 * has its message and each message its row, and no stream gets an event without them.
 *
 * `tsx test/fault/shared-transaction.ts [kills] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { onDatabases } from './databases.ts'
import { createRandom, newSeed } from './random.ts'
import { crashShared } from './shared-crashes.ts'

const [kills = '200', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, url }) => {
  const { faults, ...figures } = await crashShared({
    url,
    kills: Number(kills),
    random: createRandom(seed),
    onKill: ({ kills: done, faults }) => done % 20 === 0 && console.log(`  ${done} kills, ${faults.length} faults`),
  })
  console.log(
    `${dialect}: ${figures.kills} kills, ${figures.committed} orders with their messages, ${figures.lost} transactions rolled back, ${faults.length} faults`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
})
