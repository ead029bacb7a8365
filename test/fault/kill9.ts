/**
 * Kills the service at random moments under load, and counts what is lost. It fails if anything is.
 *
 * `tsx test/fault/kill9.ts [cycles] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { crash } from './crashes.ts'
import { onDatabases } from './databases.ts'
import { createRandom, newSeed } from './random.ts'

const POSTS = 500

const [cycles = '200', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, url }) => {
  const started = performance.now()
  const figures = await crash({
    url,
    cycles: Number(cycles),
    posts: POSTS,
    random: createRandom(seed),
    onCycle: ({ cycles: done, acknowledged, faults }) => {
      if (done % 20 === 0) console.log(`  ${done} cycles, ${acknowledged} acknowledged, ${faults.length} faults`)
    },
  })
  const { acknowledged, unanswered, reconnects, events, faults } = figures
  console.log(
    `${dialect}: ${figures.cycles} kills in ${((performance.now() - started) / 1000).toFixed(0)} s, ` +
      `${acknowledged} messages acknowledged, ${unanswered} unanswered, ${events} events read, ` +
      `${reconnects} reconnects, ${faults.length} lost, altered, missed or repeated`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
})
