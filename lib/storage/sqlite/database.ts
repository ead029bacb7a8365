import { createInFlight } from '../calls-in-flight.ts'
import type { Database, Queries, Row } from '../database.ts'
import type { Names } from '../names/names.ts'
import type { Sql } from '../sql.ts'
import { createConnection, type SqliteHandle } from './connection.ts'
import { createDamageGuard } from './damage.ts'
import { createFullDisk } from './full-disk.ts'
import { createGate } from './gate.ts'
import { createWrite } from './group-commit.ts'
import { createKeptRows } from './kept-rows.ts'
import type { Reserve } from './reserve.ts'
import { createSharedReads } from './shared-reads.ts'
import { type TransactionState, toQueries } from './transaction.ts'

/** What a database in a file has. */
interface FileParts {
  /** Throws when the file is no longer the opened one. */
  assertIntact?: () => void
  /** What it has kept for a full disk. */
  reserve?: Reserve
}

/**
 * Adds transactions and a statement cache to one SQLite connection.
 *
 * Writers that wait at the same time share a commit and its sync of the disk.
 */
export function createSqliteDatabase(
  handle: SqliteHandle,
  { assertIntact = () => {}, reserve }: FileParts = {},
  names?: Names,
): Database {
  const connection = createConnection(handle, names)
  const { prepare } = connection
  const inFlight = createInFlight()
  const guard = createDamageGuard(assertIntact)
  const sharedReads = createSharedReads(connection, guard)
  const keptRows = createKeptRows(connection, sharedReads)
  const { outside, transaction } = createGate({ connection, sharedReads, guard, inFlight })
  const write = createWrite(connection, transaction, guard.toFailure)
  const read = <T>(step: () => T): Promise<T> =>
    outside(() => {
      sharedReads.begin()
      return step()
    })

  /** Runs a statement that cannot be part of a read transaction, or must not wait for its end. */
  const alone = <T>(step: () => T): Promise<T> =>
    outside(() => {
      sharedReads.end()
      return step()
    })

  const { toFailure } = guard
  const writing = reserve ? createFullDisk({ connection, alone, transaction, write, reserve, toFailure }) : { write }

  async function snapshot<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    const state: TransactionState = {}
    try {
      return await transaction('BEGIN', () => work(toQueries(connection, state)))
    } catch (error) {
      throw guard.toFailure(error)
    } finally {
      state.over = true
    }
  }

  return {
    dialect: 'sqlite',
    names,
    all: <T = Row>({ text, params }: Sql) => read(() => prepare(text).all(...params) as T[]),
    get: <T = Row>({ text, params }: Sql) => read(() => prepare(text).get(...params) as T | undefined),
    recall: <T = Row>({ text, params }: Sql) => outside(() => keptRows.find(text, params[0]!) as T | undefined),
    run: ({ text, params }) => alone(() => Number(prepare(text).run(...params).changes)),
    ...writing,
    write: (work, options) => inFlight.track(() => writing.write(work, options)),
    snapshot: (work) => inFlight.track(() => snapshot(work)),
    purge: () =>
      alone(() => (prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number } | undefined)?.busy !== 1),
    changeToken: () => alone(() => String((prepare('PRAGMA data_version').get() as Row).data_version)),
    close: () =>
      inFlight.close(() => {
        sharedReads.end()
        connection.close()
      }),
  }
}
