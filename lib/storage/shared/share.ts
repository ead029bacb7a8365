import type { Database } from '../database.ts'
import { findDatabaseFile } from '../place.ts'
import { sql } from '../sql.ts'
import type { SqliteConnection } from '../sqlite/connection.ts'
import type { HostClient, HostDatabase, HostHandle, SharedResult } from './client.ts'
import { PLACE, shareWithPostgres } from './postgres.ts'
import { shareWithSqlite } from './sqlite.ts'

/** Runs work in a transaction of the host. */
export type Share = <T>(
  host: HostDatabase,
  work: (db: Database, xid?: string) => Promise<T>,
) => Promise<SharedResult<T>>

/** Creates a function that runs work in transactions of the host, on the database of the service. */
export function createShare(db: Database): Share {
  const { names } = db
  const connections = new WeakMap<object, SqliteConnection>()
  const placeOf = async () => (await db.get<{ place: string }>(sql`SELECT ${PLACE} AS place`))!.place

  return async (host, work) => {
    if (db.dialect === 'postgresql') {
      if (!isClient(host)) throw new Error('withTransaction: a client of PostgreSQL with query(text, values) is needed')
      return shareWithPostgres(host, { names, placeOf }, work)
    }
    if (!isHandle(host))
      throw new Error('withTransaction: a handle of SQLite is needed: a Database of better-sqlite3 or node:sqlite')
    return shareWithSqlite(host, { names, file: await findDatabaseFile(db), connections }, work)
  }
}

const isClient = (host: unknown): host is HostClient => typeof Object(host).query === 'function'
const isHandle = (host: unknown): host is HostHandle =>
  Object(host).prepare !== undefined && Object(host).exec !== undefined
