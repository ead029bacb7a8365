import { statSync } from 'node:fs'
import { newId } from '../core/ids.ts'
import type { Database, Queries } from './database.ts'
import { sql } from './sql.ts'

/** SQLite: the path of the file of a database; empty in memory. */
export async function findDatabaseFile(db: Pick<Database, 'all'>): Promise<string> {
  const [main] = await db.all<{ file: string }>(sql`PRAGMA database_list`)
  return main?.file ?? ''
}

/** The file of a database that is copied. @throws Error for PostgreSQL, and for a database in memory */
export async function getDatabaseFile(db: Queries): Promise<string> {
  if (db.dialect !== 'sqlite') throw new Error('Only SQLite has a file: for PostgreSQL use pg_dump or "export"')
  const file = await findDatabaseFile(db)
  if (!file) throw new Error('A database in memory has no file')
  return file
}

/** Tells files apart, by whatever path; `undefined` without a file. */
export function placeOfFile(path: string | undefined): string | undefined {
  const file = path ? statSync(path, { throwIfNoEntry: false }) : undefined
  return file && `${file.dev} ${file.ino}`
}

/** Tells databases apart. One in memory is of its service alone. */
export async function findDatabasePlace(db: Database): Promise<string> {
  if (db.dialect === 'sqlite') {
    return placeOfFile(await findDatabaseFile(db)) ?? newId()
  }
  const row = await db.get<{ place: string }>(
    sql`SELECT oid || ' ' || pg_postmaster_start_time() AS place FROM pg_database WHERE datname = current_database()`,
  )
  return row!.place
}
