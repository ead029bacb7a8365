import { dirname } from 'node:path'
import type { Database, Queries } from './database.ts'
import { isBusy } from './errors.ts'
import { MIGRATIONS } from './schema/migrations.ts'
import { shapeAfter } from './schema/shape.ts'
import { sql } from './sql.ts'
import type { SqliteHandle } from './sqlite/connection.ts'

/** The sizes of a database. */
export interface DatabaseSize {
  bytes: number
  /** SQLite: what remains after a VACUUM. PostgreSQL: the same as `bytes`, as it keeps the space. */
  used_bytes: number
  /** PostgreSQL: about how many rows were deleted or replaced, and still take space. */
  dead_rows: number
}

/** Reads the sizes of a database; of PostgreSQL's rows it is an estimate. */
export async function readDatabaseSize(db: Queries): Promise<DatabaseSize> {
  const query =
    db.dialect === 'sqlite'
      ? sql`SELECT page_count * page_size AS bytes, (page_count - freelist_count) * page_size AS used_bytes, 0 AS dead_rows
           FROM pragma_page_count, pragma_freelist_count, pragma_page_size`
      : sql`SELECT pg_database_size(current_database()) AS bytes, pg_database_size(current_database()) AS used_bytes,
                (SELECT coalesce(sum(n_dead_tup), 0)::bigint FROM pg_stat_user_tables
                  WHERE schemaname = current_schema()) AS dead_rows`
  return (await db.get<DatabaseSize>(query))!
}

/** PostgreSQL: makes the space of deleted rows usable again, and updates the statistics; services continue. */
export async function vacuumTables(db: Database): Promise<void> {
  const tables = [...shapeAfter(MIGRATIONS.length, db.dialect).tables.keys()]
  await db.purge(tables, new AbortController().signal, { analyze: true })
}

/** The room on the disk of a SQLite file that a VACUUM needs: the new file, and the journal of the old one. */
export function roomFor({ used_bytes }: DatabaseSize): number {
  return 2 * used_bytes
}

/**
 * SQLite: rewrites the file without free pages.
 *
 * @param handle a connection that was just opened
 * @throws Error when another process has the file open, unless `force`: then writers wait for it, and may fail
 */
export function vacuumFile(file: string, handle: SqliteHandle, { force }: { force: boolean }): void {
  // Otherwise the copy is in the folder for temporary files, which may be memory.
  process.env.SQLITE_TMPDIR = dirname(file)
  const pragma = (text: string) => handle.prepare(`PRAGMA ${text}`).get()
  try {
    handle.exec('PRAGMA temp_store = FILE')
    handle.exec(`PRAGMA busy_timeout = ${force ? 30_000 : 0}`)
    // A database can leave WAL mode only while no other process has it open.
    if (!force) pragma('journal_mode = DELETE')
    handle.exec('VACUUM')
    pragma('journal_mode = WAL')
    pragma('wal_checkpoint(TRUNCATE)')
  } catch (cause) {
    if (!isBusy(cause)) throw cause
    throw new Error(
      `${file} is in use: stop the service first, or add --force, and its writes wait or fail meanwhile`,
      {
        cause,
      },
    )
  } finally {
    handle.close()
  }
}
