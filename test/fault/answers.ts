/**
 * Kills the service at random moments while it writes answers. It fails unless all of them end in time, with exactly
 * the text that their readers have received.
 *
 * `tsx test/fault/answers.ts [cycles] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { type AnswerCrashFigures, crashAnswers } from './answer-crashes.ts'
import { onDatabases } from './databases.ts'
import { createRandom, newSeed } from './random.ts'

const [cycles = '20', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

for (const nodes of [1, 2] as const) {
  await onDatabases(wanted, async ({ dialect, url }) => {
    const random = createRandom(seed)
    const figures = await crashAnswers({ url, nodes, cycles: Number(cycles), random, onCycle: progress })
    report(nodes === 1 ? `${dialect}, started again` : `${dialect}, survived by another`, figures)
  })
}

function progress({ cycles: done, interrupted, faults }: AnswerCrashFigures): void {
  if (done % 5 === 0) console.log(`  ${done} cycles, ${interrupted} answers interrupted, ${faults.length} faults`)
}

function report(what: string, { faults, ...figures }: AnswerCrashFigures): void {
  console.log(
    `${what}: ${figures.cycles} kills, ${figures.interrupted} answers interrupted, ${figures.complete} complete, ` +
      `all within ${(figures.slowest_ms / 1000).toFixed(1)} s, ${figures.texts} texts of programs, ` +
      `${figures.texts_interrupted} interrupted, ${figures.events} events read, ` +
      `${figures.reconnects} reconnects, ${faults.length} lost, altered, missed or repeated`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
}
