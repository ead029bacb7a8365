/**
 * Fills each kind of disk under a running service, and counts what is lost. It fails if anything is, or what frees space
 * does not work.
 *
 * `tsx test/fault/full.ts [cycles] [part of a disk's name]`
 */
import { FULL_DISKS } from './storage/full.ts'

const [cycles = '10', part = ''] = process.argv.slice(2)

console.log('| full disk | database | cycles | acknowledged | lost | posts answered | reads | back after |')
console.log('| --- | --- | ---: | ---: | ---: | --- | --- | ---: |')
for (const [name, run] of Object.entries(FULL_DISKS)) {
  if (!name.includes(part)) continue
  const figures = await run(Number(cycles)).catch((error: unknown) => String(error))
  if (typeof figures === 'string') {
    console.log(`| ${name} | not run: ${figures} |`)
    if (figures.includes('Error')) process.exitCode = 1
    continue
  }
  const { database, acknowledged, lost, seen, reads, recovered_ms, faults } = figures
  const columns = [name, database, figures.cycles, acknowledged, lost, seen.join(', '), reads]
  console.log(`| ${[...columns, `${Math.round(recovered_ms)} ms`].join(' | ')} |`)
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
}
