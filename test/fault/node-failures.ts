/**
 * Kills nodes under load, lets one hang, and takes their database away. It fails if an event is missing, repeated or out
 * of order in any stream, an acknowledged post is missing, or presence or an answer is wrong for more than 15 seconds.
 *
 * `tsx test/fault/node-failures.ts [kills]`; CHAOS_SEED repeats the choices of a run.
 */
import { onDatabases } from './databases.ts'
import { failNodes } from './fleet-failures.ts'
import { createRandom, newSeed } from './random.ts'

const PAUSE_MS = 30_000
const WITHIN_MS = 15_000

const [kills = '50'] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases('postgresql', async ({ url, restart }) => {
  const started = performance.now()
  const seconds = () => ((performance.now() - started) / 1000).toFixed(0)
  const { faults, ...figures } = await failNodes({
    url,
    kills: Number(kills),
    pause_ms: PAUSE_MS,
    within_ms: WITHIN_MS,
    random: createRandom(seed),
    restartDatabase: restart!,
    onStep: (what) => console.log(`  ${seconds()} s: ${what}`),
  })
  console.log(
    `${figures.kills} kills in ${seconds()} s, ${figures.acknowledged} posts acknowledged, ${figures.unanswered} unanswered, ` +
      `${figures.events} events read, ${figures.reconnects} reconnects, ${figures.interrupted} answers interrupted within ` +
      `${(figures.slowest_answer_ms / 1000).toFixed(1)} s, presence right within ` +
      `${(figures.slowest_presence_ms / 1000).toFixed(1)} s, ${faults.length} faults`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
})
