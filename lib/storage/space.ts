import { statfsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The space of a disk, in bytes. */
export interface Space {
  /** What this user may still write. */
  free: number
  total: number
}

/** The disk of a folder, or of the one above where it will be created. */
export async function readSpace(folder: string): Promise<Space> {
  const found = await statfs(folder).catch(ifMissing)
  if (!found && dirname(folder) !== folder) return readSpace(dirname(folder))
  const { bavail, blocks, bsize } = found!
  return { free: bavail * bsize, total: blocks * bsize }
}

/** The disk that a file is on, and the number of its file system on Linux (statfs(2)). */
export function readDisk(file: string): Pick<Space, 'free'> & { type: number } {
  const { bavail, bsize, type } = statfsSync(dirname(file))
  return { free: bavail * bsize, type }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}
