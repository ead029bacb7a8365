import { createReadStream, createWriteStream, existsSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Database, Queries } from '../database.ts'
import { isDamage } from '../errors.ts'
import { findDatabaseFile, getDatabaseFile } from '../place.ts'
import { assertMigratable } from '../schema/migrate.ts'
import { assertAlone, assertOurs } from '../schema/verify.ts'
import { sql } from '../sql.ts'
import { runApart } from '../sqlite/child-process.ts'
import type { SqliteHandle } from '../sqlite/connection.ts'
import { type CopyOptions, markCopy, type Settled, settleCopy } from './copied.ts'
import { assertFree, databaseFiles, type Overwriting, replaceFile } from './files.ts'

/** An open SQLite file. */
export interface OpenFile {
  db: Database
  handle: SqliteHandle
}

/**
 * Writes a copy of a SQLite database to `file` in one consistent state, while other connections continue to write. It is
 * marked as a copy.
 *
 * @returns the size of the copy in bytes
 * @throws Error for another kind of database, and one with other tables than chat-server's; when `file` exists; when
 *   the copy is incomplete
 */
export async function backUp(db: Database, file: string, { force = false }: Overwriting): Promise<number> {
  await assertOther(db, file)
  await assertBackUpable(db)
  return copyWhole(db, file, { force })
}

/** @throws Error for another kind of database, and one with other tables than chat-server's */
export async function assertBackUpable(db: Database): Promise<void> {
  if (db.dialect !== 'sqlite')
    throw new Error(
      'A copy is made of SQLite only: for PostgreSQL use "chat-server export", backup.schedule or pg_dump',
    )
  await assertAlone(db)
  await assertOurs(db)
}

/**
 * Writes a copy of a whole SQLite file of the service, whatever else it contains, in one consistent state, and marks it as a
 * copy.
 *
 * @returns its size in bytes
 * @throws Error when `file` exists, and when there is no room for it
 */
export function copyWhole(db: Database, file: string, options: Overwriting = {}): Promise<number> {
  return replaceFile(file, options, async (partial) => {
    await db.run(sql`VACUUM INTO ${partial}`)
    await markCopy(db, partial)
  })
}

/**
 * Puts a backup in the place of the SQLite database at `file`. Its event history gets a new epoch, so every client
 * reads everything again.
 *
 * @param backup the file, or its bytes
 * @param open opens an existing database file
 * @throws Error when a database exists; when it is in use; when the backup is incomplete, is newer than this program,
 *   or has other tables than chat-server's
 */
export async function restoreTo(
  file: string,
  backup: string | AsyncIterable<Uint8Array>,
  open: (file: string) => Promise<OpenFile>,
  { force = false, signal, ...kept }: Overwriting & CopyOptions & { signal?: AbortSignal | undefined },
): Promise<Settled> {
  let settled: Settled
  const isFile = typeof backup === 'string'
  if (isFile && !existsSync(backup)) throw new Error(`There is no backup at ${backup}`)
  if (isFile) assertComplete(backup)
  assertFree(file, { force })
  if (existsSync(file)) await assertUnused(file, open)
  await replaceFile(file, { force }, async (partial) => {
    const bytes = isFile ? createReadStream(backup) : Readable.from(backup)
    await pipeline(bytes, createWriteStream(partial), { ...(signal && { signal }) })
    const { db } = await open(partial)
    try {
      await assertRestorable(db, isFile ? backup : 'The backup', signal)
      settled = await settleCopy(db, kept)
    } finally {
      await db.close()
    }
    // The WAL of a deleted or damaged database: SQLite would apply its commits to this one.
    for (const part of databaseFiles(file).slice(1)) rmSync(part, { force: true })
  })
  return settled!
}

/** @throws Error for a copy that is damaged, is newer than this program, or has other tables than chat-server's */
export async function assertRestorable(db: Database, name: string, signal?: AbortSignal): Promise<void> {
  await assertWhole(await getDatabaseFile(db), name, signal)
  await assertMigratable(db)
  await assertAlone(db)
  await assertOurs(db)
}

/** If a database was copied by other means, its last commits may be in a file next to it. */
function assertComplete(backup: string): void {
  if (statSync(`${backup}-wal`, { throwIfNoEntry: false })?.size) {
    throw new Error(
      `${backup} lacks what is in ${backup}-wal: make a backup of the two with "chat-server backup" first`,
    )
  }
}

const CHECK = `
try {
  process.stdout.write(open(args[0]).prepare('PRAGMA integrity_check').get().integrity_check)
} catch (error) {
  process.stdout.write(error.message)
}
`

async function assertWhole(file: string, name: string, signal?: AbortSignal): Promise<void> {
  const problem = await runApart(CHECK, [file], signal)
  if (problem !== 'ok') throw new Error(`${name} is damaged: ${problem}`)
}

/** A database can leave WAL mode only while no other process has it open. A damaged database cannot be in use. */
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

/** @throws Error when the file is the database itself or its WAL */
export async function assertOther(db: Queries, file: string): Promise<void> {
  if (db.dialect !== 'sqlite') return
  const own = await findDatabaseFile(db)
  if (own && databaseFiles(own).some((part) => isSame(part, file))) throw new Error(`${file} is the database itself`)
}

/** Compares files, not names; a missing file equals only the same name. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }))
  return a && b ? a.ino === b.ino && a.dev === b.dev : resolve(one) === resolve(other)
}
