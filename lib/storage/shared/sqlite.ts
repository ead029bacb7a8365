import { retry } from '../../core/scheduling/deadline.ts'
import type { Database } from '../database.ts'
import { isBusy, toStorageFailure } from '../errors.ts'
import type { Names } from '../names/names.ts'
import { placeOfFile } from '../place.ts'
import { createConnection, type SqliteConnection, type SqliteHandle } from '../sqlite/connection.ts'
import { runWork, toQueries } from '../sqlite/transaction.ts'
import type { HostHandle, SharedResult } from './client.ts'
import { createSharedDatabase } from './database.ts'
import { runOneByOne } from './turn.ts'

/** How long it waits for another writer of the file. SQLite's own wait would block the event loop. */
const LOCK_TIMEOUT_MS = 5_000
const LOCK_RETRY_MS = 10

/** What the service relies on; a connection of the host gets its own values back. */
const SETTINGS = { busy_timeout: 0, foreign_keys: 1, synchronous: 2, secure_delete: 1 }

/**
 * Runs `work` as one transaction on a handle of the host, in which the host's own statements are, too. It begins and
 * commits the transaction: the other statements of the service are on a connection of its own, and wait.
 *
 * @param file of the service's own database
 */
export async function shareWithSqlite<T>(
  host: HostHandle,
  {
    names,
    file,
    connections,
  }: { names: Names | undefined; file: string; connections: WeakMap<object, SqliteConnection> },
  work: (db: Database) => Promise<T>,
): Promise<SharedResult<T>> {
  const handle = host as SqliteHandle
  const connection = connections.get(handle) ?? createConnection(handle, names)
  connections.set(handle, connection)
  assertSame(handle, file)
  return runOneByOne(handle, async () => {
    const restore = await begin(connection, handle).catch((error) => Promise.reject(toStorageFailure(error)))
    try {
      return { value: await runShared(connection, handle, work) }
    } catch (error) {
      throw toStorageFailure(error)
    } finally {
      restore()
    }
  })
}

/** Begins a transaction. While it waits for the lock, the handle has the settings of the host. @returns what restores them */
function begin(connection: SqliteConnection, handle: SqliteHandle): Promise<() => void> {
  const attempt = () => {
    if (connection.hasTransaction())
      throw new Error('withTransaction: a transaction is open on this handle. It begins and commits one itself')
    const before = readSettings(handle)
    const restore = () => {
      try {
        // Inside a transaction, which the host may have begun, SQLite refuses or ignores them.
        if (!connection.hasTransaction()) applySettings(handle, before)
      } catch {
        // The handle is closed. How the transaction has ended matters more.
      }
    }
    try {
      applySettings(handle, SETTINGS)
      handle.exec('BEGIN IMMEDIATE')
    } catch (error) {
      restore()
      throw error
    }
    return restore
  }
  return retry(attempt, { ms: LOCK_TIMEOUT_MS, pause_ms: LOCK_RETRY_MS, mayPass: isBusy })
}

async function runShared<T>(
  connection: SqliteConnection,
  handle: SqliteHandle,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const db = createSharedDatabase({
    queries: toQueries(connection, {}),
    control: (sql) => handle.exec(sql),
    runWork: async (run) => {
      const state = {}
      try {
        return await runWork(connection, state, run)
      } finally {
        Object.assign(state, { over: true })
      }
    },
    toFailure: toStorageFailure,
  })
  try {
    const value = await work(db).finally(db.end)
    if (!connection.hasTransaction()) throw new Error('withTransaction: the transaction was ended inside it')
    handle.exec('COMMIT')
    return value
  } catch (error) {
    if (connection.hasTransaction()) handle.exec('ROLLBACK')
    throw error
  }
}

function assertSame(handle: SqliteHandle, file: string): void {
  const [main] = handle.prepare('PRAGMA database_list').all() as { file: string }[]
  const place = placeOfFile(file)
  if (place === undefined || placeOfFile(main?.file) !== place)
    throw new Error(`withTransaction: this handle is not on ${file || 'a file, but in memory'}`)
}

function readSettings(handle: SqliteHandle): Record<string, number> {
  const names = Object.keys(SETTINGS)
  return Object.fromEntries(names.map((name) => [name, Number(onlyValue(handle.prepare(`PRAGMA ${name}`).get()))]))
}

function applySettings(handle: SqliteHandle, values: Record<string, number>): void {
  for (const [name, value] of Object.entries(values)) handle.exec(`PRAGMA ${name} = ${value}`)
}

const onlyValue = (row: unknown) => Object.values(row as object)[0]
