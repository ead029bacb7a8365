import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bind, mountSmall } from './mounts.ts'
import { realFolder, SQLITE_FAULTS } from './sqlite-faults.ts'
import { endure, type Figures } from './stage.ts'
import { whyNoStrace } from './strace.ts'

/** Mebibytes: room for the database and its WAL, and quickly full. */
const SMALL = 24

/**
 * Runs a fault of a SQLite file.
 *
 * @returns the result, or the reason why the fault cannot be injected here
 */
export async function endureSqlite(
  name: string,
  { cycles, lasts_ms }: { cycles: number; lasts_ms?: number },
): Promise<Figures | string> {
  const { needs, make } = SQLITE_FAULTS[name]!
  const missing = needs.map((need) => WHY_NOT[need]()).find((reason) => reason !== undefined)
  if (missing) return missing
  const mount = needs.includes('mount') ? mountSmall(SMALL) : undefined
  const folder = mkdtempSync(join(tmpdir(), 'chat-fault-'))
  const place = join(mount?.path ?? folder, 'shown')
  mkdirSync(place)
  const unbind = mount && bind(realFolder(mount), place)
  try {
    const file = join(place, 'chat.db')
    return await endure(
      { name, ...make({ file, mount, lasts_ms }) },
      { database: 'sqlite', url: `sqlite:${file}`, cycles },
    )
  } finally {
    unbind?.()
    mount?.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

const WHY_NOT = {
  strace: whyNoStrace,
  prlimit: () => (spawnSync('prlimit', ['--version']).status === 0 ? undefined : 'prlimit is not installed'),
  mount() {
    const mount = mountSmall(1)
    mount?.remove()
    return mount ? undefined : 'nothing may be mounted'
  },
}
