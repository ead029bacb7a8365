import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** What to do when a file is in the way. */
export interface Overwriting {
  /** Replaces it. */
  force?: boolean
}

/** @throws Error when something is at `file` that may not be replaced */
export function assertFree(file: string, { force = false }: Overwriting): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found && !found.isFile()) throw new Error(`${file} is not a file`)
  if (found && !force) throw new Error(`${file} is there already; --force replaces it`)
}

/** What SQLite keeps beside a database file; what is in there belongs to the database. */
const BESIDE = ['-wal', '-shm', '-journal']

/** A SQLite file, and all that may be beside it. */
export function partsOf(file: string): string[] {
  return [file, ...BESIDE.map((end) => `${file}${end}`)]
}

/** What a file is called until all of it is there. */
export function partialOf(file: string): string {
  return `${file}.partial`
}

/**
 * Has `write` fill a file that only we may read, and gives it its name once the disk has all of it: until then whatever
 * was there before stays.
 *
 * @returns its size in bytes
 * @throws Error as {@link assertFree}
 */
export async function replaceFile(
  file: string,
  options: Overwriting,
  write: (partial: string) => Promise<unknown>,
): Promise<number> {
  assertFree(file, options)
  const partial = partialOf(file)
  rmSync(partial, { force: true })
  closeSync(openSync(partial, 'wx', 0o600))
  try {
    await write(partial)
    sync(partial)
    const { size } = statSync(partial)
    if (options.force) renameSync(partial, file)
    else nameOnce(partial, file)
    sync(dirname(file))
    return size
  } finally {
    for (const part of partsOf(partial)) rmSync(part, { force: true })
  }
}

/** Gives `partial` a name that nobody else has taken meanwhile. @throws Error with code EEXIST */
function nameOnce(partial: string, file: string): void {
  try {
    linkSync(partial, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error
    // FAT and some network file systems know no second name. There an empty file keeps the name for a moment.
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
