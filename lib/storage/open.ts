import { existsSync } from 'node:fs'
import { type NamesOf, refuseUnknown } from '../core/known-names.ts'
import { currentMillis } from '../core/time.ts'
import { backUp } from './archive/backup.ts'
import { COPY_OPTIONS, type CopyOptions, renewEpoch } from './archive/copied.ts'
import { exportArchive } from './archive/export.ts'
import type { Overwriting } from './archive/files.ts'
import type { Counts, Progress } from './archive/format.ts'
import { importArchive } from './archive/import.ts'
import { hasTable } from './catalog.ts'
import { connect, type Db0Like, openHandle, toDatabase } from './connect.ts'
import type { Database } from './database.ts'
import { sqliteTrouble, withReason } from './errors.ts'
import { assertUtf8 } from './inspect.ts'
import { createKv, inMemory, type Kv, type KvLike } from './kv.ts'
import { createNames, type Names, type Placement } from './names/names.ts'
import type { FilesLike } from './objects/unstorage.ts'
import { assertOptions } from './options.ts'
import { findDatabaseFile } from './place.ts'
import { adoptPool, type HostPool, isHostPool } from './postgres/host-pool.ts'
import type { PoolOptions } from './postgres/pool.ts'
import { listMigrations, type MigrationState, migrate } from './schema/migrate.ts'
import type { HostHandle } from './shared/client.ts'
import { readDisk } from './space.ts'
import type { SqliteHandle } from './sqlite/connection.ts'
import { hasWal, prepareFile, sqlitePath } from './sqlite/file.ts'
import type { Durability } from './sqlite/pragmas.ts'
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
  /** @internal The place of files that was given, if one was. */
  readonly files?: string | FilesLike | undefined
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
  import(lines: AsyncIterable<string>, onProgress?: Progress, options?: CopyOptions): Promise<Counts>
  /** Starts a new event history, after another tool has restored the database. Only while no service runs. */
  renewEpoch(): Promise<void>
  close(): Promise<void>
}

/** What to open, with its options. */
export interface StorageOptions extends Omit<PoolOptions, 'url' | 'max'>, Placement {
  /**
   * `sqlite:./data/chat.db`, `sqlite::memory:`, `postgres://…`, a db0 database of SQLite or of our PostgreSQL connector, or
   * a handle of better-sqlite3 or node:sqlite on a file: the service opens a connection of its own to that file. A `Pool` of
   * `pg` is shared: it stays open, and its connections keep their settings.
   */
  database?: string | Db0Like | HostHandle | HostPool
  /** The store of typing and presence; in memory by default. */
  kv?: KvLike
  /**
   * The place for the bytes of files: `fs:<folder>`, `s3://<bucket>/<prefix>?endpoint=…&region=…`, or an unstorage
   * `Storage`. Default: `attachments.storage`.
   */
  files?: string | FilesLike
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

const STORAGE_OPTIONS: NamesOf<StorageOptions> = {
  database: 0,
  kv: 0,
  files: 0,
  pool_size: 0,
  application_name: 0,
  prepared_statements: 0,
  schema: 0,
  prefix: 0,
  durability: 0,
  read_only: 0,
  create: 0,
  strict: 0,
}

/**
 * Opens the storage of a service. Creates nothing in the database before `migrate()` or `chat.start()`.
 *
 * @throws TypeError for an unknown option; Error when the database cannot be opened, is of another kind, or does not keep acknowledged writes
 */
export async function openStorage(options: StorageOptions = {}): Promise<Storage> {
  assertOptions(options)
  refuseUnknown('openStorage', options, STORAGE_OPTIONS)
  const { durability = 'full' } = options
  const database = toOpenable(options.database ?? 'sqlite:./data/chat.db', options)
  const path = typeof database === 'string' ? sqlitePath(database) : undefined
  if (path) prepareFile(path, { create: options.create ?? true, read_only: options.read_only ?? false })
  const names = createNames(options)
  if (names?.schema && typeof database === 'string' && database.startsWith('sqlite:'))
    throw new Error('openStorage: SQLite has no schemas: give a prefix instead of the schema')
  const open = async () => {
    const keepsWal = path !== undefined && options.read_only === true && hasWal(path)
    const db0 =
      typeof database === 'string' ? await connect(toPoolOptions(database, options), path, keepsWal) : database
    return toDatabase(db0, durability, { ...options, path, names })
  }
  const opened = await open().catch((error: unknown) => {
    // Node's error repeats the address, with its password.
    if (Object(error).code === 'ERR_INVALID_URL')
      throw new TypeError(
        'openStorage: "database" is not a valid URL: escape special characters in its password (%40 for @)',
      )
    throw path && sqliteTrouble(error) ? withPath(path, error as Error) : withReason(error)
  })
  const db = options.strict ? guardTransactions(opened) : opened
  const kv = createKv(options.kv ?? inMemory(currentMillis), currentMillis)
  const signals = await signalsOf(opened, names)
  return {
    db,
    kv,
    signals,
    files: options.files,
    migrations: () => listMigrations(db),
    migrate: () => assertUtf8(db).then(() => migrate(db)),
    async backup(file, options = {}) {
      refuseUnknown('storage.backup', options, { force: 0 })
      if (typeof file !== 'string') throw new TypeError("storage.backup: pass the path of the copy: './backup.db'")
      return backUp(db, file, options)
    },
    async export(write, onProgress) {
      if (typeof write !== 'function') throw new TypeError('storage.export: pass a function that takes the lines')
      await assertCreated(db)
      return exportArchive(db, write, onProgress)
    },
    async import(lines, onProgress, options = {}) {
      refuseUnknown('storage.import', options, COPY_OPTIONS)
      if (!lines?.[Symbol.asyncIterator]) throw new TypeError('storage.import: pass an async iterable of texts')
      return importArchive(db, lines, onProgress, options)
    },
    async renewEpoch() {
      await assertCreated(db)
      return renewEpoch(db)
    },
    async close() {
      await signals?.close()
      await db.close()
    },
  }
}

/** @throws TypeError for what `openStorage` did not return, such as its promise */
export function assertStorage(storage: unknown): asserts storage is Storage {
  if (storage instanceof Promise)
    throw new TypeError('createChatService: the storage is a promise: pass await openStorage({ … })')
  if (!Object(storage).db)
    throw new TypeError('createChatService: the second argument must be a storage: pass await openStorage({ … })')
}

/** What SQLite needs beside a file to open it. */
const ROOM_TO_OPEN = 1024 * 1024

/** SQLite's own errors do not name the file, nor a full disk. */
function withPath(path: string, cause: Error): Error {
  if (existsSync(path) && readDisk(path).free < ROOM_TO_OPEN)
    return new Error(
      `${path} cannot be opened, as its disk is full: even a read needs room beside it. Free a MiB there, or copy it and its -wal file to another disk`,
      { cause },
    )
  return new Error(`${path} cannot be opened as a database: ${cause.message}`, { cause })
}

/** @throws Error for a database without our tables */
async function assertCreated(db: Database): Promise<void> {
  if (!(await hasTable(db, 'meta')))
    throw new Error('The database has no tables of chat-server yet: call storage.migrate() or chat.start() first')
}

/** What a host has opened: the address of the file of a handle, and a pool. Its connection stays the host's: ours would be part of its transactions. */
function toOpenable(
  database: string | Db0Like | HostHandle | HostPool,
  { prepared_statements: isPrepared = true }: StorageOptions,
): string | Db0Like {
  if (isHostPool(database)) return { dialect: 'postgresql', getInstance: () => adoptPool(database, { isPrepared }) }
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
  const file = await findDatabaseFile(db)
  return file ? createSignalsFile(`${file}-${names?.prefix ?? ''}signals`, openHandle) : undefined
}

function toPoolOptions(url: string, { pool_size, application_name, prepared_statements }: StorageOptions): PoolOptions {
  return {
    url,
    ...(pool_size !== undefined && { max: pool_size }),
    ...(application_name !== undefined && { application_name }),
    ...(prepared_statements !== undefined && { prepared_statements }),
  }
}
