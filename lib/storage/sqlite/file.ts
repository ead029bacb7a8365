import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ChatError } from '../../core/errors.ts'
import type { Queries } from '../database.ts'
import { findDatabaseFile } from '../place.ts'

/** The file of a database URL, if it has one. */
export function sqlitePath(url: string): string | undefined {
  const path = /^sqlite:(.+)$/.exec(url)?.[1]
  return path === undefined || path === ':memory:' ? undefined : resolve(path)
}

/**
 * Creates the file of a database if it does not exist. Only the current user may read it, whatever the umask; its WAL
 * gets the same mode.
 *
 * @throws Error when it does not exist and must not be created, when this user may not use it, or when a WAL without its
 *   database exists
 */
export function prepareFile(path: string, { create, read_only }: { create: boolean; read_only: boolean }): void {
  // A folder that this user may not enter looks empty otherwise.
  if (!create && !statSync(path, { throwIfNoEntry: false })) throw new Error(`There is no database at ${path}`)
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) throw new Error(`${path} is a folder, not a database`)
    assertAccess(path, read_only)
  }
  // SQLite takes an empty file for a new database, and deletes the WAL next to it.
  if (!sizeOf(path) && sizeOf(`${path}-wal`)) {
    throw new Error(
      `${path} is empty or gone, and ${path}-wal has commits of it: put the database back, or move that file away to begin anew`,
    )
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // An existing file is not opened: closing a file releases all locks of this process on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
}

/** SQLite's own errors name neither the file nor the folder, in which it writes its WAL. */
function assertAccess(path: string, read_only: boolean): void {
  accessSync(path, constants.R_OK)
  if (read_only) {
    assertReadable(path)
    return
  }
  accessSync(path, constants.W_OK)
  accessSync(dirname(path), constants.W_OK)
}

/** With a file in WAL mode, SQLite reads two further files, and creates them if no process has the file open. */
function assertReadable(path: string): void {
  const parts = [`${path}-wal`, `${path}-shm`].filter((part) => existsSync(part))
  for (const part of parts) accessSync(part, constants.R_OK)
  if (parts.length === 2) return
  try {
    accessSync(dirname(path), constants.W_OK)
  } catch (error) {
    if (isInWal(path)) throw error
  }
}

/** Whether bytes 18 and 19 of a file say that it is in WAL mode (https://sqlite.org/fileformat.html); `true` if it cannot be read. */
export function isInWal(path: string): boolean {
  let handle: number
  try {
    handle = openSync(path, 'r')
  } catch {
    // Opening it as a database reports the error.
    return true
  }
  try {
    const header = Buffer.alloc(20)
    readSync(handle, header, 0, 20, 0)
    return header[18] === 2 && header[19] === 2
  } finally {
    closeSync(handle)
  }
}

/** The minimum time between two checks that the files still exist. */
const WATCH_MS = 2_000

/**
 * Checks that the files of an open database are still those at their paths: SQLite would continue to write to a deleted
 * or replaced file, and lose all of it. It would also continue to write to a file that was made read-only, until the
 * next start.
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

/** The size to which SQLite truncates the WAL when it restarts it. */
export const WAL_BYTES = 64 * 1024 * 1024

/**
 * The size of the WAL. It grows as long as one read stays open: ours are short, those of another process may not be.
 */
export async function walBytes(db: Queries): Promise<number> {
  if (db.dialect !== 'sqlite') return 0
  const file = await findDatabaseFile(db)
  return file ? sizeOf(`${file}-wal`) : 0
}

/** Whether commits wait beside a file to be moved into it. */
export function hasWal(path: string): boolean {
  return sizeOf(`${path}-wal`) > 0
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
