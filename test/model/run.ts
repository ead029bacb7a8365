/**
 * Compares answers with tools, approvals and deaths of nodes with a model of their rules, by random operations on two nodes.
 *
 * `tsx test/model/run.ts [operations] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { onDatabases } from '../fault/databases.ts'
import { createRandom, newSeed } from '../fault/random.ts'
import { walk } from './walk.ts'

/** A walk is a database: with few answers in it, what goes wrong is found fast. */
const OPERATIONS = 250

const [wantedOperations = '1000', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, another }) => {
  const random = createRandom(seed)
  const counts: Record<string, number> = {}
  let [done, races] = [0, 0]
  let hold = false
  for (const faults: string[] = []; done < Number(wantedOperations) && faults.length === 0; ) {
    const operations = Math.min(OPERATIONS, Number(wantedOperations) - done)
    const result = await walk(await another(), { operations, random, hold })
    hold = !hold
    done += result.operations
    races += result.races
    for (const [kind, count] of Object.entries(result.counts)) counts[kind] = (counts[kind] ?? 0) + count
    faults.push(...result.faults)
    for (const fault of faults) console.log(fault)
    if (faults.length > 0) process.exitCode = 1
  }
  const kinds = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`)
  console.log(`${dialect}: ${done} operations, ${races} pairs of them at once (${kinds.join(', ')})`)
})
