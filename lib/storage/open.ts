import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { createDatabase as createDb0, type Database as Db0 } from 'db0'
import { createStorage } from 'unstorage'
import { ChatError } from '../errors.ts'
import type { Counts, Progress } from './archive.ts'
import { backUp, renewEpoch, restoreTo } from './backup.ts'
import type { Database, Queries } from './database.ts'
import { exportArchive } from './export.ts'
import { sqliteTrouble } from './failures.ts'
import type { Overwriting } from './files.ts'
import { importArchive } from './import.ts'
import { createKv, type Kv, type KvLike } from './kv.ts'
import { listMigrations, type MigrationState, migrate } from './migrate.ts'
import { refuseNesting } from './nesting.ts'
import { createPostgresDatabase, type PgPool, postgresConnector } from './postgres.ts'
import { createSqliteDatabase, type SqliteHandle } from './sqlite.ts'

/** What a service keeps its data in. Made by {@link openStorage}; closed by whoever opened it, or with the service. */
export interface Storage {
  /** @internal */
  readonly db: Database
  /** @internal */
  readonly kv: Kv
  /** Every step of the schema, with the instant it was applied. */
  migrations(): Promise<MigrationState[]>
  /** Applies what is pending. @returns the names of the steps applied */
  migrate(): Promise<string[]>
  /**
   * Writes a copy of a SQLite database to a file, as it is at one moment, while the service runs.
   *
   * @returns its size in bytes
   * @throws Error for another database, and when the file is there already
   */
  backup(file: string, options?: Overwriting): Promise<number>
  /** Writes all there is as lines of JSON, of one state of it, while the service runs. @returns counts by table */
  export(write: (lines: string) => void, onProgress?: Progress): Promise<Counts>
  /**
   * Fills an empty, migrated database, of either kind, from such lines. @returns counts by table
   *
   * @throws Error when the database is not empty, or the archive is not whole
   */
  import(lines: AsyncIterable<string>, onProgress?: Progress): Promise<Counts>
  /** Begins another history of events, after another tool has restored the database. Only while no service runs. */
  renewEpoch(): Promise<void>
  close(): Promise<void>
}

/** A db0 `Database`, as far as it is used here. */
export interface Db0Like {
  readonly dialect: string
  getInstance(): Promise<unknown>
}

/** What to open, and how. */
export interface StorageOptions {
  /** `sqlite:./data/chat.db`, `sqlite::memory:`, `postgres://…`, or a db0 database of SQLite or of our PostgreSQL connector. */
  database?: string | Db0Like
  /** Where typing and presence live; memory by default. */
  kv?: KvLike
  /** `full` answers after the disk has synced; `os` leaves that to the operating system. Default `full`. */
  durability?: 'full' | 'os'
  /** Whether a SQLite file that is not there is made. Default true. */
  create?: boolean
  /** Makes a transaction that uses the database around it throw instead of waiting for itself. For tests. */
  strict?: boolean
}

/**
 * Opens the storage of a service. Nothing is created in the database before `migrate()` or `chat.start()`.
 *
 * @throws Error when the database cannot be opened, is of another kind, or does not keep what it acknowledges
 */
export async function openStorage(options: StorageOptions = {}): Promise<Storage> {
  const { database = 'sqlite:./data/chat.db', durability = 'full' } = options
  const path = typeof database === 'string' ? sqlitePath(database) : undefined
  if (path) prepareFile(path, options.create ?? true)
  const db0 = typeof database === 'string' ? await connect(database, path) : database
  const opened = await toDatabase(db0, durability, path ? watchFile(path) : () => {})
  const db = options.strict ? refuseNesting(opened) : opened
  const kv = createKv(options.kv ?? createStorage(), Date.now)
  return {
    db,
    kv,
    migrations: () => listMigrations(db),
    migrate: () => migrate(db),
    backup: (file, options = {}) => backUp(db, file, options),
    export: (write, onProgress) => exportArchive(db, write, onProgress),
    import: (lines, onProgress) => importArchive(db, lines, onProgress),
    renewEpoch: () => renewEpoch(db),
    close: () => db.close(),
  }
}

/**
 * Puts a backup in the place of a SQLite database that nobody uses.
 *
 * @param database `sqlite:<path>`
 * @throws Error when a database is there already, unless `force`; when a service uses it; when the backup is of no use
 */
export async function restoreStorage(database: string, backup: string, options: Overwriting = {}): Promise<void> {
  const path = sqlitePath(database)
  if (!path) throw new Error('Only a SQLite file is restored by chat-server: for PostgreSQL use pg_restore')
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const open = async (file: string) => {
    const db0 = await connectSqlite({ path: file })
    return { db: await toDatabase(db0, 'full', () => {}), handle: (await db0.getInstance()) as SqliteHandle }
  }
  await restoreTo(path, resolve(backup), open, options)
}

async function connect(url: string, path: string | undefined): Promise<Db0Like> {
  if (/^postgres(ql)?:\/\//.test(url)) return createDb0(postgresConnector({ url }))
  if (!/^sqlite:./.test(url)) throw new Error('The database address must start with sqlite: or postgres://')
  return connectSqlite(path ? { path } : { name: ':memory:' })
}

/** The file that an address names, if it names one. */
function sqlitePath(url: string): string | undefined {
  const path = /^sqlite:(.+)$/.exec(url)?.[1]
  return path === undefined || path === ':memory:' ? undefined : resolve(path)
}

/** Only we may read a new file, whatever the umask; its WAL takes the same mode. */
function prepareFile(path: string, create: boolean): void {
  if (!create && !existsSync(path)) throw new Error(`There is no database at ${path}`)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
}

/** How often it is looked whether the file is still there, at most. */
const WATCH_MS = 2_000

/**
 * A check that the file opened is the one at its path: SQLite would go on writing to one that was deleted or replaced,
 * and all of that would be lost. One that was made read-only it would go on writing to as well, until the next start.
 */
function watchFile(path: string): () => void {
  const { dev, ino } = statSync(path)
  let next = 0
  const assertThere = () => {
    accessSync(path, constants.R_OK | constants.W_OK)
    const current = statSync(path)
    if (current.ino !== ino || current.dev !== dev) throw new Error('The database file was replaced')
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

async function connectSqlite(options: { name?: string; path?: string }): Promise<Db0Like> {
  try {
    const { default: connector } = await import('db0/connectors/better-sqlite3')
    const db0 = createDb0(connector(options))
    await db0.getInstance()
    return db0
  } catch (cause) {
    // SQLite itself refused (no permission, not a database): the addon is there.
    if (sqliteTrouble(cause)) throw cause
    const { default: connector } = await import('db0/connectors/node-sqlite')
    const db0 = createDb0(connector(options))
    try {
      await db0.getInstance()
    } catch (error) {
      if (sqliteTrouble(error)) throw error
      throw new Error('SQLite needs the better-sqlite3 package, or Node 22.13 and later', { cause })
    }
    return db0
  }
}

async function toDatabase(db0: Db0Like | Db0, durability: 'full' | 'os', assertIntact: () => void): Promise<Database> {
  const instance = await db0.getInstance()
  if (db0.dialect === 'sqlite' && isSqliteHandle(instance)) {
    try {
      prepareSqlite(instance, durability)
    } catch (error) {
      instance.close()
      throw error
    }
    return createSqliteDatabase(instance, assertIntact)
  }
  if (db0.dialect === 'postgresql' && 'totalCount' in Object(instance)) {
    const db = createPostgresDatabase(instance as PgPool)
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

/** Others of this dialect have the same methods, but answer later. */
function isSqliteHandle(instance: unknown): instance is SqliteHandle {
  const { prepare } = Object(instance) as Partial<SqliteHandle>
  const statement = prepare?.call(instance, 'SELECT 1 AS one')
  return Object(statement?.get?.()).one === 1
}

function prepareSqlite(handle: SqliteHandle, durability: 'full' | 'os'): void {
  const pragma = (name: string, value?: string) =>
    Object.values(handle.prepare(`PRAGMA ${name}${value ? ` = ${value}` : ''}`).get() as object)[0]
  // Long, for several that start at once: only one of them can turn the file to WAL.
  handle.exec('PRAGMA busy_timeout = 5000')
  const journal = pragma('journal_mode', 'WAL')
  handle.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
  handle.exec('PRAGMA foreign_keys = ON')
  handle.exec('PRAGMA temp_store = MEMORY')
  // 16 MiB of pages, against 2: an index of a million messages fits.
  handle.exec('PRAGMA cache_size = -16384')
  const kept = (journal === 'wal' || journal === 'memory') && pragma('foreign_keys') === 1
  // Short from here on: SQLite waits inside the event loop. Longer waits for other processes are ours.
  handle.exec('PRAGMA busy_timeout = 5')
  if (!kept || pragma('synchronous') !== (durability === 'full' ? 2 : 1))
    throw new Error('SQLite did not take the settings that make it durable')
}

async function assertDurable(db: Queries, durability: 'full' | 'os'): Promise<void> {
  if (durability === 'os') return
  for (const setting of ['fsync', 'synchronous_commit']) {
    const row = await db.get<{ value: string }>('SELECT current_setting(?) AS value', setting)
    if (row?.value === 'off') {
      throw new Error(
        `PostgreSQL runs with ${setting} = off and may lose acknowledged messages: turn it on, or set storage.durability to "os"`,
      )
    }
  }
}
