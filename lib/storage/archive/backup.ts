import { copyFileSync, existsSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { newId } from '../../core/ids.ts'
import type { Database, Queries } from '../database.ts'
import { isDamage } from '../errors.ts'
import { assertMigratable } from '../schema/migrate.ts'
import { assertAlone, assertOurs } from '../schema/verify.ts'
import type { SqliteHandle } from '../sqlite/connection.ts'
import { assertFree, type Overwriting, partsOf, replaceFile } from './files.ts'

/** A SQLite file that is open. */
export interface OpenFile {
  db: Database
  handle: SqliteHandle
}

/**
 * Writes a copy of a SQLite database to `file`, as it is at one moment, while others go on writing to it.
 *
 * @returns the size of the copy in bytes
 * @throws Error for another kind of database, and one with other things in it than ours; when `file` is there already;
 *   when the copy turns out not to be whole
 */
export async function backUp(db: Database, file: string, { force = false }: Overwriting): Promise<number> {
  if (db.dialect !== 'sqlite') throw new Error('Only SQLite is backed up by chat-server: for PostgreSQL use pg_dump')
  await assertOther(db, file)
  await assertAlone(db)
  await assertOurs(db)
  return replaceFile(file, { force }, (partial) => db.run('VACUUM INTO ?', partial))
}

/**
 * Puts a backup in the place of the SQLite database at `file`. Its history of events gets another epoch, so every
 * reader of before is told to read everything again.
 *
 * @param open opens a database file that is there
 * @throws Error when a database is there already; when it is in use; when the backup is not whole, is newer than
 *   this program, or has other things in it than ours
 */
export async function restoreTo(
  file: string,
  backup: string,
  open: (file: string) => Promise<OpenFile>,
  { force = false }: Overwriting,
): Promise<void> {
  if (!existsSync(backup)) throw new Error(`There is no backup at ${backup}`)
  assertComplete(backup)
  assertFree(file, { force })
  if (existsSync(file)) await assertUnused(file, open)
  await replaceFile(file, { force }, async (partial) => {
    copyFileSync(backup, partial)
    const { db } = await open(partial)
    try {
      await assertWhole(db, backup)
      await assertMigratable(db)
      await assertAlone(db)
      await assertOurs(db)
      await renewEpoch(db)
    } finally {
      await db.close()
    }
    // The log of a database that is gone, or damaged: SQLite would take what is in it for commits to this one.
    for (const part of partsOf(file).slice(1)) rmSync(part, { force: true })
  })
}

/** Begins another history of the events: no id given out before is of any use afterwards. */
export async function renewEpoch(db: Database): Promise<void> {
  await db.write((tx) => tx.run("UPDATE meta SET value = ? WHERE name = 'epoch'", newId()))
}

/** Of a database that was copied by other means, the last commits may be in a file beside it. */
function assertComplete(backup: string): void {
  if (statSync(`${backup}-wal`, { throwIfNoEntry: false })?.size) {
    throw new Error(
      `${backup} lacks what is in ${backup}-wal: make a backup of the two with "chat-server backup" first`,
    )
  }
}

async function assertWhole(db: Queries, name: string): Promise<void> {
  const rows = await db.all<{ integrity_check: string }>('PRAGMA integrity_check')
  if (rows[0]?.integrity_check !== 'ok') throw new Error(`${name} is damaged: ${rows[0]?.integrity_check}`)
}

/** A database can leave its WAL only while nobody else has it open. One that is damaged is of no use to anybody. */
async function assertUnused(file: string, open: (file: string) => Promise<OpenFile>): Promise<void> {
  const opened = await open(file).catch((error: unknown) => {
    if (!isDamage(error)) throw error
  })
  if (!opened) return
  const { db, handle } = opened
  try {
    // Not through `db`, whose reads share a transaction.
    handle.prepare('PRAGMA journal_mode = DELETE').get()
  } catch (cause) {
    if (isDamage(cause)) return
    throw new Error(`${file} is in use: stop the service first`, { cause })
  } finally {
    await db.close()
  }
}

/** @throws Error when the file is the one the database is in, or of its log */
export async function assertOther(db: Queries, file: string): Promise<void> {
  if (db.dialect !== 'sqlite') return
  const [main] = await db.all<{ file: string }>('PRAGMA database_list')
  if (main?.file && partsOf(main.file).some((part) => isSame(part, file)))
    throw new Error(`${file} is the database itself`)
}

/** By whatever name; one that is not there is the same under the same name only. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }))
  return a && b ? a.ino === b.ino && a.dev === b.dev : resolve(one) === resolve(other)
}
