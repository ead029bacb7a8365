import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ChatError } from '../../core/errors.ts'
import type { Queries } from '../database.ts'

/** The file that an address names, if it names one. */
export function sqlitePath(url: string): string | undefined {
  const path = /^sqlite:(.+)$/.exec(url)?.[1]
  return path === undefined || path === ':memory:' ? undefined : resolve(path)
}

/**
 * Makes the file of a database, unless it is there. Only we may read a new one, whatever the umask; its WAL takes the
 * same mode.
 *
 * @throws Error when it is not there and must not be made, or when there are commits of one that is lost
 */
export function prepareFile(path: string, create: boolean): void {
  if (!create && !existsSync(path)) throw new Error(`There is no database at ${path}`)
  // SQLite takes an empty file for a new database, and deletes the WAL beside it.
  if (!sizeOf(path) && sizeOf(`${path}-wal`)) {
    throw new Error(
      `${path} is empty or gone, and ${path}-wal has commits of it: put the database back, or move that file away to begin anew`,
    )
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Left alone when it is there: closing a file lets go of all locks on it that this process has.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
}

/** How often it is looked whether the files are still there, at most. */
const WATCH_MS = 2_000

/**
 * A check that the files of an open database are still the ones at their paths: SQLite would go on writing to one that
 * was deleted or replaced, and all of that would be lost. One that was made read-only it would go on writing to as well,
 * until the next start.
 */
export function watchFile(path: string): () => void {
  const files = [path, `${path}-wal`, `${path}-shm`].map((file) => [file, statSync(file)] as const)
  let next = 0
  const assertThere = () => {
    for (const [file, opened] of files) {
      accessSync(file, constants.R_OK | constants.W_OK)
      const current = statSync(file)
      if (current.ino !== opened.ino || current.dev !== opened.dev) throw new Error(`${file} was replaced`)
    }
  }
  return () => {
    const now = performance.now()
    if (now < next) return
    try {
      assertThere()
    } catch (cause) {
      throw new ChatError('unavailable', { cause, retry_after_seconds: 5 })
    }
    next = now + WATCH_MS
  }
}

/** How large the file may get that commits are written to first; SQLite shortens it to that when it begins it anew. */
export const WAL_BYTES = 64 * 1024 * 1024

/** How large it is. It grows for as long as one and the same read goes on: in ours none does, in another process one may. */
export async function walBytes(db: Queries): Promise<number> {
  if (db.dialect !== 'sqlite') return 0
  const [main] = await db.all<{ file: string }>('PRAGMA database_list')
  return main?.file ? sizeOf(`${main.file}-wal`) : 0
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
