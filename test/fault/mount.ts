/**
 * Moves the storages of files and of backups away and back at random, and empty folders into their places, while two nodes
 * upload, read, clean up and make backups. It fails if anything is lost, marked as gone, or does not heal.
 *
 * `tsx test/fault/mount.ts [steps] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onDatabases } from './databases.ts'
import { moveStorages } from './mount-moves.ts'
import { createRandom, newSeed } from './random.ts'

const [steps = '1000', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, url }) => {
  const folder = mkdtempSync(join(tmpdir(), 'chat-fault-mount-'))
  try {
    const figures = await moveStorages({ url, folder, steps: Number(steps), random: createRandom(seed) })
    const { files, backups, refused, faults } = figures
    console.log(
      `${dialect}: ${steps} steps, ${files} files, ${backups} backups, ${refused} calls refused, ${faults.length} faults`,
    )
    for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
    if (faults.length > 0) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true })
  }
})
