/**
 * Kills a service and a program that applies its events, which come through a proxy that loses, repeats and delays calls, and
 * restarts the server of their databases. It fails unless the effects in the program's database, which have no unique key, are
 * the events, in the order that is promised.
 *
 * `tsx test/fault/receive.ts [events] [kills of each side] [pull | push | both | all] [sqlite | postgresql | all]`, the last for
 * the service; CHAOS_SEED repeats the choices of a run. At the size of the guarantee: `receive.ts 1000000 200`.
 */
import { onDatabases, type ScriptDatabase } from './databases.ts'
import { createRandom, newSeed } from './random.ts'
import { crashReceive, type ReceiveMode } from './receive-crashes.ts'

const [events = '20000', kills = '10', wantedMode = 'all', wantedDatabase = 'all'] = process.argv.slice(2)
const MODES: ReceiveMode[] = ['pull', 'push', 'both']
const seed = newSeed()
console.log(`seed ${seed}`)

/** What a webhook may wait after the second failure of an event. */
const PATIENCE_MS = 10 * 60_000

await onDatabases(undefined, async (first) => {
  await run(first.dialect, first, first)
  // The receiver has the other kind, if it is installed.
  await onDatabases(first.dialect === 'sqlite' ? 'postgresql' : 'sqlite', (other) => run(first.dialect, first, other))
})

async function run(dialect: string, service: ScriptDatabase, receiver: ScriptDatabase): Promise<void> {
  if (wantedDatabase !== 'all' && wantedDatabase !== dialect) return
  for (const mode of MODES.filter((each) => wantedMode === 'all' || each === wantedMode)) {
    const restart = service.restart ?? receiver.restart
    const figures = await crashReceive({
      ...{ mode, service: await service.another(), receiver: await receiver.another() },
      ...{ events: Number(events), kills: Number(kills), patience_ms: PATIENCE_MS, random: createRandom(seed) },
      ...(restart && { restart }),
    })
    const { faults, harmed } = figures
    console.log(
      `${mode}, ${dialect} to ${receiver.dialect}: ${figures.events} events, ${figures.kills} kills, ${figures.restarts} restarts of a database, ` +
        `calls ${Object.entries(harmed)
          .map(([harm, count]) => `${count} ${harm}`)
          .join(', ')}; ${faults.length} faults`,
    )
    for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
    if (faults.length > 0) process.exitCode = 1
  }
}
