import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { retry } from '../../core/scheduling/deadline.ts'
import type { Database } from '../database.ts'
import { isBusy, isDamage } from '../errors.ts'
import type { SqliteHandle } from './connection.ts'
import { createSqliteDatabase } from './database.ts'
import { watchFile } from './file.ts'

/** After a failure the file is left alone for so long. */
const RETRY_MS = 2_000

const LOCK_TIMEOUT_MS = 1_000
const LOCK_RETRY_MS = 10

/** The files of SQLite that belong to one database. */
const PARTS = ['', '-wal', '-shm']

/** The tables of migration 0014 on PostgreSQL. */
const TABLES = `
  CREATE TABLE IF NOT EXISTS nodes (
    id TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL, beat_at INTEGER NOT NULL, version TEXT NOT NULL, streams INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS node_presence (
    node_id TEXT NOT NULL, user_id TEXT NOT NULL,
    streams INTEGER NOT NULL, since INTEGER, status TEXT, status_at INTEGER, seen_at INTEGER, left_at INTEGER,
    PRIMARY KEY (user_id, node_id)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS node_presence_by_node ON node_presence (node_id);
  CREATE TABLE IF NOT EXISTS signals (
    n INTEGER PRIMARY KEY AUTOINCREMENT, node_id TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL)`

/**
 * As of later migrations. A process of before may have created the file, and use it still: columns may only be added, and
 * may be null.
 */
const ADDED_COLUMNS = [
  ['nodes', 'place', 'TEXT'],
  ['nodes', 'clock_difference', 'INTEGER'],
  ['nodes', 'files', 'TEXT'],
  ['nodes', 'heard_at', 'INTEGER'],
  ['nodes', 'details', 'TEXT'],
  ['node_presence', 'stalled_at', 'INTEGER'],
] as const

type Connect = (path: string) => Promise<SqliteHandle>

/** The database through which the processes of a SQLite file pass ephemeral events on. */
export interface SignalsFile extends Database {
  /** Whether the file exists: the first process that serves creates it. */
  exists(): boolean
}

/**
 * Makes the database of a file beside the SQLite file of the service: nothing in it must survive a crash, so no commit
 * waits for the disk, nor for a writer of the other file. The first call creates it.
 *
 * A call that fails closes the file, and a later one opens it again; a damaged file is replaced.
 */
export function createSignalsFile(path: string, connect: Connect): SignalsFile {
  let opening: Promise<Database> | undefined
  let failure: Failure | undefined
  let openings = 0

  async function open(): Promise<Database> {
    if (failure?.isDamaged) removeAll(path)
    failure = undefined
    openings++
    return openFile(path, connect)
  }

  async function close(why: Failure): Promise<void> {
    const opened = opening
    opening = undefined
    failure = why
    await opened?.then((db) => db.close()).catch(() => {})
  }

  function fail(error: unknown): void {
    const isDamaged = failure?.isDamaged || isDamage((error as Error).cause ?? error)
    void close({ error, until: performance.now() + RETRY_MS, isDamaged })
  }

  async function use<T>(call: (db: Database) => Promise<T>): Promise<T> {
    if (failure && performance.now() < failure.until) throw failure.error
    opening ??= open()
    const used = opening
    try {
      return await call(await used)
    } catch (error) {
      if (used === opening && !isBusy((error as Error).cause)) fail(error)
      throw error
    }
  }

  return {
    dialect: 'sqlite',
    exists: () => existsSync(path),
    all: (sql, ...params) => use((db) => db.all(sql, ...params)),
    get: (sql, ...params) => use((db) => db.get(sql, ...params)),
    run: (sql, ...params) => use((db) => db.run(sql, ...params)),
    write: (work, options) => use((db) => db.write(work, options)),
    snapshot: (work, options) => use((db) => db.snapshot(work, options)),
    purge: (tables, signal) => use((db) => db.purge(tables, signal)),
    // A file that was opened again counts from the start.
    changeToken: () => use(async (db) => `${openings} ${await db.changeToken()}`),
    close: () =>
      close({
        error: new Error('The file of signals is closed'),
        until: Number.POSITIVE_INFINITY,
        isDamaged: false,
      }),
  }
}

/** Why the file is not open, and until when it stays closed. */
interface Failure {
  error: unknown
  /** By `performance.now()`. */
  until: number
  isDamaged: boolean
}

async function openFile(path: string, connect: Connect): Promise<Database> {
  // Only the current user may read it, whatever the umask.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  const handle = await connect(path)
  try {
    await retry(() => setUp(handle), { ms: LOCK_TIMEOUT_MS, pause_ms: LOCK_RETRY_MS, mayPass: isBusy })
    return createSqliteDatabase(handle, { assertIntact: watchFile(path) })
  } catch (error) {
    handle.close()
    throw error
  }
}

function setUp(handle: SqliteHandle): void {
  handle.exec('PRAGMA busy_timeout = 5')
  handle.prepare('PRAGMA journal_mode = WAL').get()
  handle.exec('PRAGMA synchronous = OFF')
  handle.exec(TABLES)
  addColumns(handle)
  // A first write: the file may be read-only.
  handle.exec('DELETE FROM signals WHERE n < 0')
}

function addColumns(handle: SqliteHandle): void {
  // If two processes start together, the second one sees what the first has added.
  handle.exec('BEGIN IMMEDIATE')
  try {
    for (const [table, column, type] of ADDED_COLUMNS) {
      const known = handle.prepare(`SELECT 1 FROM pragma_table_info('${table}') WHERE name = '${column}'`).get()
      if (!known) handle.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`)
    }
    handle.exec('COMMIT')
  } catch (error) {
    handle.exec('ROLLBACK')
    throw error
  }
}

function removeAll(path: string): void {
  for (const part of PARTS) rmSync(`${path}${part}`, { force: true })
}
