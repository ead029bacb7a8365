import { accessSync, constants, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** The space that the databases and the PostgreSQL log of a run may need. */
const ENOUGH_BYTES = 3 * 1024 ** 3

/**
 * The folder of a run's databases: in memory if there is enough space, so that a commit waits for no disk. The
 * databases work the same.
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
