import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Connector, Database as Db0 } from 'db0'
import { backUp, renewEpoch, restoreTo } from './archive/backup.ts'
import { exportArchive } from './archive/export.ts'
import type { Overwriting } from './archive/files.ts'
import type { Counts, Progress } from './archive/format.ts'
import { importArchive } from './archive/import.ts'
import type { Database } from './database.ts'
import { sqliteTrouble } from './errors.ts'
import { createKv, inMemory, type Kv, type KvLike } from './kv.ts'
import { createNames, type Names, type Placement } from './names/names.ts'
import { postgresConnector } from './postgres/connector.ts'
import { createPostgresDatabase } from './postgres/database.ts'
import type { PgPool, PoolOptions } from './postgres/pool.ts'
import { listMigrations, type MigrationState, migrate } from './schema/migrate.ts'
import type { HostHandle } from './shared/client.ts'
import type { SqliteHandle } from './sqlite/connection.ts'
import { createSqliteDatabase } from './sqlite/database.ts'
import { addonTrouble } from './sqlite/driver.ts'
import { prepareFile, sqlitePath, watchFile } from './sqlite/file.ts'
import { assertDurable, type Durability, setUpSqlite } from './sqlite/pragmas.ts'
import { createSignalsFile, type SignalsFile } from './sqlite/signals-file.ts'
import { guardTransactions } from './transaction-guard.ts'

/** The storage of a service. Created by {@link openStorage}; closed by its opener, or with the service. */
export interface Storage {
  /** @internal */
  readonly db: Database
  /** @internal */
  readonly kv: Kv
  /** @internal What the processes of a SQLite file pass on to each other. */
  readonly signals?: SignalsFile | undefined
  /** Every migration, with the instant it was applied. */
  migrations(): Promise<MigrationState[]>
  /** Applies the pending migrations. @returns their names */
  migrate(): Promise<string[]>
  /**
   * Writes a copy of a SQLite database to a file, in one consistent state, while the service runs.
   *
   * @returns its size in bytes
   * @throws Error for another database, and when the file exists
   */
  backup(file: string, options?: Overwriting): Promise<number>
  /**
   * Writes all data as JSON lines, in one consistent state, while the service runs. It waits for `write`.
   *
   * @returns counts by table
   */
  export(write: (lines: string) => void | Promise<void>, onProgress?: Progress): Promise<Counts>
  /**
   * Fills an empty, migrated database of either kind from such lines. @returns counts by table
   *
   * @throws Error when the database is not empty, or the archive is incomplete
   */
  import(lines: AsyncIterable<string>, onProgress?: Progress): Promise<Counts>
  /** Starts a new event history, after another tool has restored the database. Only while no service runs. */
  renewEpoch(): Promise<void>
  close(): Promise<void>
}

/** The methods of a db0 `Database` used here. */
export interface Db0Like {
  readonly dialect: string
  getInstance(): Promise<unknown>
}

/** What to open, with its options. */
export interface StorageOptions extends Omit<PoolOptions, 'url' | 'max'>, Placement {
  /**
   * `sqlite:./data/chat.db`, `sqlite::memory:`, `postgres://…`, a db0 database of SQLite or of our PostgreSQL connector, or
   * a handle of better-sqlite3 or node:sqlite on a file: the service opens a connection of its own to that file.
   */
  database?: string | Db0Like | HostHandle
  /** The store of typing and presence; in memory by default. */
  kv?: KvLike
  /** PostgreSQL: the maximum number of connections. Default 10. */
  pool_size?: number
  /** `full` responds after the disk has synced; `os` leaves the sync to the operating system. Default `full`. */
  durability?: Durability
  /** SQLite: refuses every write, and leaves the file as it is. Default false. */
  read_only?: boolean
  /** Whether to create a missing SQLite file. Default true. */
  create?: boolean
  /** Makes a transaction that uses the outer database throw instead of waiting for itself. For tests. */
  strict?: boolean
}

/**
 * Opens the storage of a service. Creates nothing in the database before `migrate()` or `chat.start()`.
 *
 * @throws Error when the database cannot be opened, is of another kind, or does not keep acknowledged writes
 */
export async function openStorage(options: StorageOptions = {}): Promise<Storage> {
  const { durability = 'full' } = options
  const database = withoutHandle(options.database ?? 'sqlite:./data/chat.db')
  const path = typeof database === 'string' ? sqlitePath(database) : undefined
  if (path) prepareFile(path, { create: options.create ?? true, read_only: options.read_only ?? false })
  const names = createNames(options)
  if (names?.schema && typeof database === 'string' && database.startsWith('sqlite:'))
    throw new Error('openStorage: SQLite has no schemas: give a prefix instead of the schema')
  const db0 = typeof database === 'string' ? await connect(toPoolOptions(database, options), path) : database
  const opened = await toDatabase(db0, durability, { ...options, path, names })
  const db = options.strict ? guardTransactions(opened) : opened
  const kv = createKv(options.kv ?? inMemory(), Date.now)
  const signals = await signalsOf(opened, names)
  return {
    db,
    kv,
    signals,
    migrations: () => listMigrations(db),
    migrate: () => migrate(db),
    backup: (file, options = {}) => backUp(db, file, options),
    export: (write, onProgress) => exportArchive(db, write, onProgress),
    import: (lines, onProgress) => importArchive(db, lines, onProgress),
    renewEpoch: () => renewEpoch(db),
    async close() {
      await signals?.close()
      await db.close()
    },
  }
}

/** The address of the file of a host's handle. Its connection stays the host's: ours would be part of its transactions. */
function withoutHandle(database: string | Db0Like | HostHandle): string | Db0Like {
  if (typeof database === 'string' || !('exec' in database)) return database
  if ('getInstance' in database) return database as unknown as Db0Like
  const [main] = (database as SqliteHandle).prepare('PRAGMA database_list').all() as { file: string }[]
  if (!main?.file)
    throw new Error('openStorage: a database in memory has one connection: give the service a database of its own')
  return `sqlite:${main.file}`
}

/** The file for signals, if the database is a file of SQLite. Services with other prefixes have others. */
async function signalsOf(db: Database, names: Names | undefined): Promise<SignalsFile | undefined> {
  if (db.dialect !== 'sqlite') return undefined
  const [main] = await db.all<{ file: string }>('PRAGMA database_list')
  if (!main?.file) return undefined
  return createSignalsFile(`${main.file}-${names?.prefix ?? ''}signals`, openHandle)
}

/** How a backup is restored. */
export interface RestoreOptions extends Overwriting {
  /** The prefix of the tables in the backup. */
  prefix?: string
}

/**
 * Puts a backup in the place of a SQLite database that is not in use.
 *
 * @param database `sqlite:<path>`
 * @param backup the file, or its bytes
 * @throws Error when a database exists, unless `force`; when a service uses it; when the backup is unusable
 */
export async function restoreStorage(
  database: string,
  backup: string | AsyncIterable<Uint8Array>,
  options: RestoreOptions = {},
): Promise<void> {
  const names = createNames(options)
  const path = sqlitePath(database)
  if (!path) throw new Error('Only a SQLite file is restored by chat-server: for PostgreSQL use pg_restore')
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const open = async (file: string) => {
    const db0 = await connectSqlite({ path: file })
    return { db: await toDatabase(db0, 'full', { names }), handle: (await db0.getInstance()) as SqliteHandle }
  }
  await restoreTo(path, typeof backup === 'string' ? resolve(backup) : backup, open, options)
}

/** Opens a SQLite file without any settings. The caller closes it. */
export async function openHandle(path: string): Promise<SqliteHandle> {
  return (await (await connectSqlite({ path })).getInstance()) as SqliteHandle
}

function toPoolOptions(url: string, { pool_size, application_name, prepared_statements }: StorageOptions): PoolOptions {
  return {
    url,
    ...(pool_size !== undefined && { max: pool_size }),
    ...(application_name !== undefined && { application_name }),
    ...(prepared_statements !== undefined && { prepared_statements }),
  }
}

async function connect(options: PoolOptions, path: string | undefined): Promise<Db0Like> {
  const { url } = options
  if (/^postgres(ql)?:\/\//.test(url)) return createDb0(postgresConnector(options))
  if (!/^sqlite:./.test(url)) throw new Error('The database address must start with sqlite: or postgres://')
  return connectSqlite(path ? { path } : { name: ':memory:' })
}

/** db0 is loaded only for databases opened here: a host's own database brings its own. */
async function createDb0(connector: Connector): Promise<Db0> {
  const { createDatabase } = await import('db0')
  return createDatabase(connector)
}

async function connectSqlite(options: { name?: string; path?: string }): Promise<Db0Like> {
  try {
    const trouble = addonTrouble()
    if (trouble) throw new Error(trouble)
    const { default: connector } = await import('db0/connectors/better-sqlite3')
    const db0 = await createDb0(connector(options))
    await db0.getInstance()
    return db0
  } catch (cause) {
    // SQLite itself refused (no permission, not a database): the addon could be loaded.
    if (sqliteTrouble(cause)) throw cause
    const { default: connector } = await import('db0/connectors/node-sqlite')
    const db0 = await createDb0(connector(options))
    try {
      await db0.getInstance()
    } catch (error) {
      if (sqliteTrouble(error)) throw error
      const needed = addonTrouble() ?? 'SQLite needs the optional package better-sqlite3, or Node 22.13 and later'
      throw new Error(needed, { cause })
    }
    return db0
  }
}

async function toDatabase(
  db0: Db0Like | Db0,
  durability: Durability,
  options: { path?: string | undefined; names?: Names | undefined; read_only?: boolean } = {},
): Promise<Database> {
  const { path, names, read_only = false } = options
  const instance = await db0.getInstance()
  if (db0.dialect === 'sqlite' && isSqliteHandle(instance)) {
    try {
      await setUpSqlite(instance, durability, { read_only })
      return createSqliteDatabase(instance, path && !read_only ? watchFile(path) : undefined, names)
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
