import { closeSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { newId } from '../../core/ids.ts'
import type { Queries } from '../database.ts'
import { partsOf } from './files.ts'

/** A copy grows until it is complete, and is then read: one without a change for so long was left by a killed process. */
const STALLED_MS = 10 * 60_000

/** The file of an open SQLite database. @throws Error for another database, and for one in memory */
export async function fileOf(db: Queries): Promise<string> {
  if (db.dialect !== 'sqlite') throw new Error('Only SQLite has a file: for PostgreSQL use pg_dump or "export"')
  const [main] = await db.all<{ file: string }>('PRAGMA database_list')
  if (!main?.file) throw new Error('A database in memory has no file')
  return main.file
}

/**
 * Lets `use` read a copy of the database in one consistent state. The copy is next to the database, where there is a disk
 * with room for it that only this user reads, and is deleted at the end.
 *
 * @param copy writes the copy into the empty file at this path
 */
export async function withCopy<T>(
  file: string,
  copy: (path: string) => Promise<unknown>,
  use: (path: string) => Promise<T>,
): Promise<T> {
  deleteStalled(file)
  const path = `${file}.copy-${newId()}`
  closeSync(openSync(path, 'wx', 0o600))
  try {
    await copy(path)
    return await use(path)
  } finally {
    for (const part of partsOf(path)) rmSync(part, { force: true })
  }
}

function deleteStalled(file: string): void {
  const folder = dirname(file)
  const start = `${basename(file)}.copy-`
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (!name.startsWith(start)) continue
    const found = statSync(path, { throwIfNoEntry: false })
    if (found && Date.now() - found.mtimeMs > STALLED_MS) rmSync(path, { force: true })
  }
}
