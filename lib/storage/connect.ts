import type { Connector, Database as Db0 } from 'db0'
import type { Database } from './database.ts'
import { sqliteTrouble } from './errors.ts'
import type { Names } from './names/names.ts'
import { postgresConnector } from './postgres/connector.ts'
import { createPostgresDatabase } from './postgres/database.ts'
import type { PgPool, PoolOptions } from './postgres/pool.ts'
import type { SqliteHandle } from './sqlite/connection.ts'
import { createSqliteDatabase } from './sqlite/database.ts'
import { addonTrouble } from './sqlite/driver.ts'
import { watchFile } from './sqlite/file.ts'
import { assertDurable, type Durability, setUpSqlite } from './sqlite/pragmas.ts'
import { createReserve } from './sqlite/reserve.ts'

/** The methods of a db0 `Database` used here. */
export interface Db0Like {
  readonly dialect: string
  getInstance(): Promise<unknown>
}

/** Opens a SQLite file without any settings. The caller closes it. */
export async function openHandle(path: string): Promise<SqliteHandle> {
  return (await (await connectSqlite({ path })).getInstance()) as SqliteHandle
}

/**
 * Connects to the database at an address.
 *
 * @param path of its file, with SQLite
 * @param keeps_wal opens the file for reading: the last connection to close it would move its WAL into it
 */
export async function connect(options: PoolOptions, path: string | undefined, keeps_wal = false): Promise<Db0Like> {
  const { url } = options
  if (/^postgres(ql)?:\/\//.test(url)) return createDb0(postgresConnector(options))
  if (!/^sqlite:./.test(url)) throw new Error('The database address must start with sqlite: or postgres://')
  return connectSqlite(path ? { path, keeps_wal } : { name: ':memory:' })
}

/** db0 is loaded only for databases opened here: a host's own database brings its own. */
async function createDb0(connector: Connector): Promise<Db0> {
  const { createDatabase } = await import('db0')
  return createDatabase(connector)
}

interface SqlitePlace {
  name?: string
  path?: string
  keeps_wal?: boolean
}

/** The connector of db0 has no option for this. */
async function readingLib() {
  const { default: Sqlite } = await import('better-sqlite3')
  class ReadingSqlite extends Sqlite {
    constructor(path: string) {
      super(path, { readonly: true })
    }
  }
  return ReadingSqlite as unknown as typeof Sqlite
}

/** Opens a SQLite file for reading by node:sqlite: the connector of db0 has no option for that either. */
function openReading(path: string): Db0Like {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as {
    DatabaseSync: new (path: string, options: { readOnly: boolean }) => SqliteHandle
  }
  const handle = new DatabaseSync(path, { readOnly: true })
  return { dialect: 'sqlite', getInstance: async () => handle }
}

/** Connects to a SQLite file by better-sqlite3, or by node:sqlite where that cannot be loaded. */
export async function connectSqlite({ keeps_wal = false, ...options }: SqlitePlace): Promise<Db0Like> {
  try {
    const trouble = addonTrouble()
    if (trouble) throw new Error(trouble)
    const { default: connector } = await import('db0/connectors/better-sqlite3')
    const db0 = await createDb0(connector(keeps_wal ? { ...options, lib: readingLib } : options))
    await db0.getInstance()
    return db0
  } catch (cause) {
    // SQLite itself refused (no permission, not a database): the addon could be loaded.
    if (sqliteTrouble(cause)) throw cause
    try {
      if (keeps_wal && options.path) return openReading(options.path)
      const { default: connector } = await import('db0/connectors/node-sqlite')
      const db0 = await createDb0(connector(options))
      await db0.getInstance()
      return db0
    } catch (error) {
      if (sqliteTrouble(error)) throw error
      const needed = addonTrouble() ?? 'SQLite needs the optional package better-sqlite3, or Node 22.13 and later'
      throw new Error(needed, { cause })
    }
  }
}

/** The database behind a connection, set up for the service. @throws Error for a db0 database of another kind */
export async function toDatabase(
  db0: Db0Like,
  durability: Durability,
  options: { path?: string | undefined; names?: Names | undefined; read_only?: boolean } = {},
): Promise<Database> {
  const { path, names, read_only = false } = options
  const instance = await db0.getInstance()
  if (db0.dialect === 'sqlite' && isSqliteHandle(instance)) {
    try {
      await setUpSqlite(instance, durability, { read_only })
      const file = path && !read_only ? { assertIntact: watchFile(path), reserve: createReserve(path) } : {}
      return createSqliteDatabase(instance, file, names)
    } catch (error) {
      instance.close()
      throw error
    }
  }
  if (db0.dialect === 'postgresql' && 'totalCount' in Object(instance)) {
    const db = createPostgresDatabase(instance as PgPool, names)
    await assertDurable(db, durability).catch(async (error) => {
      await db.close()
      throw error
    })
    return db
  }
  throw new Error(
    'This db0 database is not supported: use better-sqlite3, node-sqlite, or postgresConnector of chat-server',
  )
}

/** Other connectors of this dialect have the same methods, but are asynchronous. */
function isSqliteHandle(instance: unknown): instance is SqliteHandle {
  const { prepare } = Object(instance) as Partial<SqliteHandle>
  const statement = prepare?.call(instance, 'SELECT 1 AS one')
  return Object(statement?.get?.()).one === 1
}
