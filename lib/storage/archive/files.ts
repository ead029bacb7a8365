import { closeSync, fsyncSync, linkSync, openSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { withTemporary } from '../temporary.ts'

/** What to do if a file exists. */
export interface Overwriting {
  /** Replaces it. */
  force?: boolean
}

/** @throws Error when a file exists at `file` that may not be replaced */
export function assertFree(file: string, { force = false }: Overwriting): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats && !stats.isFile()) throw new Error(`${file} is not a file`)
  if (stats && !force) throw new Error(`${file} already exists; --force replaces it`)
}

/** The files that SQLite, and the service, keep next to a database file; their content belongs to the database. */
const BESIDE = ['-wal', '-shm', '-journal', '-signals', '-signals-wal', '-signals-shm']

/** A SQLite file, and all files that may exist next to it. */
export function databaseFiles(file: string): string[] {
  return [file, ...BESIDE.map((end) => `${file}${end}`)]
}

/** How a file is written. */
export interface Writing extends Overwriting {
  /** The permissions, from which the umask takes. Default: only the current user may read it. */
  mode?: number
}

/**
 * Lets `write` fill a file, and renames it once the disk has all of it: an existing file stays until then.
 *
 * @returns its size in bytes
 * @throws Error as {@link assertFree}
 */
export async function replaceFile(
  file: string,
  options: Writing,
  write: (partial: string) => Promise<unknown>,
): Promise<number> {
  assertFree(file, options)
  const use = async (partial: string) => {
    await write(partial)
    sync(partial)
    const { size } = statSync(partial)
    if (options.force) renameSync(partial, file)
    else nameOnce(partial, file)
    sync(dirname(file))
    return size
  }
  return withTemporary(file, use, options)
}

/**
 * Renames `partial` without replacing a file that another process has created. @throws Error with code EEXIST
 */
function nameOnce(partial: string, file: string): void {
  try {
    linkSync(partial, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error
    // FAT and some network file systems have no hard links. There an empty file reserves the name for a moment.
    closeSync(openSync(file, 'wx', 0o600))
    renameSync(partial, file)
  }
}

function sync(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
