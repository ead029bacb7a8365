/**
 * Kills the service at random moments while files are uploaded, and compares the storage of files with the database. It fails
 * if anything is missing, or another.
 *
 * `tsx test/fault/uploads.ts [cycles] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onDatabases } from './databases.ts'
import { createRandom, newSeed } from './random.ts'
import { crashUploads } from './upload-crashes.ts'

const [cycles = '20', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, url }) => {
  const folder = mkdtempSync(join(tmpdir(), 'chat-fault-uploads-'))
  try {
    const random = createRandom(seed)
    const { uploads, parts, faults } = await crashUploads({ url, folder, cycles: Number(cycles), uploads: 10, random })
    console.log(`${dialect}: ${cycles} kills, ${uploads} uploads, ${parts} parts acknowledged, ${faults.length} faults`)
    for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
    if (faults.length > 0) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true })
  }
})
