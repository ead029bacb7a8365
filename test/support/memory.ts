import { accessSync, constants, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** What the databases of a run and the log of PostgreSQL may come to. */
const ENOUGH_BYTES = 3 * 1024 ** 3

/**
 * Where the databases of a run are kept: in memory where there is enough, since a commit then waits for no disk. What is
 * asked of the databases is the same.
 */
export const MEMORY = isRoomy('/dev/shm') ? '/dev/shm' : tmpdir()

function isRoomy(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > ENOUGH_BYTES
  } catch {
    return false
  }
}
