import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { newId } from '../ids.ts'
import type { Database, Queries } from './database.ts'
import { assertMigratable } from './migrate.ts'
import type { SqliteHandle } from './sqlite.ts'

/** A SQLite file that is open. */
export interface OpenFile {
  db: Database
  handle: SqliteHandle
}

/** What to do when a file is in the way. */
export interface Overwriting {
  /** Replaces it. */
  force?: boolean
}

/**
 * Writes a copy of a SQLite database to `file`, as it is at one moment, while others go on writing to it.
 *
 * @returns the size of the copy in bytes
 * @throws Error for another kind of database; when `file` is there already; when the copy turns out not to be whole
 */
export async function backUp(db: Database, file: string, { force = false }: Overwriting): Promise<number> {
  if (db.dialect !== 'sqlite') throw new Error('Only SQLite is backed up by chat-server: for PostgreSQL use pg_dump')
  assertFree(file, force)
  await assertOther(db, file)
  return replaceWith(file, force, (partial) => db.run('VACUUM INTO ?', partial))
}

/**
 * Puts a backup in the place of the SQLite database at `file`. Its history of events gets another epoch, so every
 * reader of before is told to read everything again.
 *
 * @param open opens a database file that is there
 * @throws Error when a database is there already; when it is in use; when the backup is not whole, or is newer than
 *   this program
 */
export async function restoreTo(
  file: string,
  backup: string,
  open: (file: string) => Promise<OpenFile>,
  { force = false }: Overwriting,
): Promise<void> {
  if (!existsSync(backup)) throw new Error(`There is no backup at ${backup}`)
  assertFree(file, force)
  if (existsSync(file)) await assertUnused(file, open)
  await replaceWith(file, force, async (partial) => {
    copyFileSync(backup, partial)
    const { db } = await open(partial)
    try {
      await assertWhole(db, backup)
      await assertMigratable(db)
      await renewEpoch(db)
    } finally {
      await db.close()
    }
  })
}

/** Begins another history of the events: no id given out before is of any use afterwards. */
export async function renewEpoch(db: Database): Promise<void> {
  await db.write((tx) => tx.run("UPDATE meta SET value = ? WHERE name = 'epoch'", newId()))
}

function assertFree(file: string, force: boolean): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found && !found.isFile()) throw new Error(`${file} is not a file`)
  if (found && !force) throw new Error(`${file} is there already; --force replaces it`)
}

/** Has `write` make a file that only we may read, and gives it its name once the disk has all of it. */
async function replaceWith(
  file: string,
  force: boolean,
  write: (partial: string) => Promise<unknown>,
): Promise<number> {
  const partial = `${file}.partial`
  rmSync(partial, { force: true })
  closeSync(openSync(partial, 'wx', 0o600))
  try {
    await write(partial)
    sync(partial)
    const { size } = statSync(partial)
    if (force) renameSync(partial, file)
    else linkSync(partial, file)
    sync(dirname(file))
    return size
  } finally {
    for (const rest of ['', '-wal', '-shm', '-journal']) rmSync(`${partial}${rest}`, { force: true })
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

async function assertWhole(db: Queries, name: string): Promise<void> {
  const rows = await db.all<{ integrity_check: string }>('PRAGMA integrity_check')
  if (rows[0]?.integrity_check !== 'ok') throw new Error(`${name} is damaged: ${rows[0]?.integrity_check}`)
}

/** A database can leave its WAL only while nobody else has it open. */
async function assertUnused(file: string, open: (file: string) => Promise<OpenFile>): Promise<void> {
  const { db, handle } = await open(file)
  try {
    // Not through `db`, whose reads share a transaction.
    handle.prepare('PRAGMA journal_mode = DELETE').get()
  } catch (cause) {
    throw new Error(`${file} is in use: stop the service first`, { cause })
  } finally {
    await db.close()
  }
}

/** @throws Error when the file is the one the database is in */
async function assertOther(db: Queries, file: string): Promise<void> {
  const current = statSync(file, { throwIfNoEntry: false })
  const [main] = await db.all<{ file: string }>('PRAGMA database_list')
  const live = main?.file ? statSync(main.file, { throwIfNoEntry: false }) : undefined
  if (current && live && current.ino === live.ino && current.dev === live.dev)
    throw new Error(`${file} is the database itself`)
}
