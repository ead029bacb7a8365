import { createBatches } from '../../core/scheduling/batches.ts'
import type { TransactionOptions, Writing } from '../database.ts'
import type { SqliteConnection } from './connection.ts'
import type { Gate } from './gate.ts'
import { runWork, type TransactionState } from './transaction.ts'

/** Work that waits for a transaction, and then for its commit. */
interface Writer {
  work: (tx: Writing) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** Aborts a batch in which a writer failed after a change: the writers run again, with savepoints. */
class BatchAborted extends Error {}

/** Settles a writer, once the batch is committed. */
type Settle = () => void

type ToFailure = (error: unknown) => unknown

/**
 * Makes the function that runs work in the next batch, and resolves once it is committed. Writers that wait at the same
 * time share a commit; those that need not be durable share other ones.
 *
 * @param toFailure maps an error to the failure of a writer
 */
export function createWrite(connection: SqliteConnection, transaction: Gate['transaction'], toFailure: ToFailure) {
  const [durables, others] = [true, false].map((durable) => {
    const begin: Gate['transaction'] = (sql, section) => transaction(sql, section, { durable })
    return createBatches<Writer>(createCommit(connection, begin, toFailure))
  })
  return <T>(work: (tx: Writing) => Promise<T>, { durable }: TransactionOptions = {}): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const batches = durable === false ? others! : durables!
      batches.add({ work, resolve: resolve as Writer['resolve'], reject })
    })
}

/** Makes the function that commits a batch: all of its writers together, once it has the lock. */
function createCommit(connection: SqliteConnection, transaction: Gate['transaction'], toFailure: ToFailure) {
  return async function commit(take: () => Writer[], run = runTogether): Promise<void> {
    let batch: Writer[] = []
    try {
      const settles = await transaction('BEGIN IMMEDIATE', () => {
        batch = take()
        return run(connection, toFailure, batch)
      })
      for (const settle of settles) settle()
    } catch (error) {
      if (error instanceof BatchAborted) return commit(() => batch, runApart)
      const failed = batch.length > 0 ? batch : take()
      for (const writer of failed) writer.reject(toFailure(error))
    }
  }
}

/**
 * Runs writers one after another, with no other statements in between.
 *
 * @throws BatchAborted when a failed writer cannot be undone without the others
 */
async function runTogether(connection: SqliteConnection, toFailure: ToFailure, writers: Writer[]): Promise<Settle[]> {
  const settles: Settle[] = []
  for (const writer of writers) {
    const state: TransactionState = {}
    try {
      const value = await runWork(connection, state, writer.work)
      settles.push(() => writer.resolve(value))
    } catch (error) {
      if (!connection.hasTransaction()) throw state.lost ?? error
      if (state.wrote) throw writers.length > 1 ? new BatchAborted() : error
      settles.push(() => writer.reject(toFailure(error)))
    } finally {
      state.over = true
    }
  }
  return settles
}

/**
 * Runs writers with a savepoint each, to undo a single one. SQLite then copies every page that a writer changes first.
 */
async function runApart(connection: SqliteConnection, toFailure: ToFailure, writers: Writer[]): Promise<Settle[]> {
  const settles: Settle[] = []
  for (const writer of writers) settles.push(await runInSavepoint(connection, toFailure, writer))
  return settles
}

async function runInSavepoint(connection: SqliteConnection, toFailure: ToFailure, writer: Writer): Promise<Settle> {
  const state: TransactionState = {}
  connection.prepare('SAVEPOINT writer').run()
  try {
    const value = await runWork(connection, state, writer.work)
    connection.prepare('RELEASE writer').run()
    return () => writer.resolve(value)
  } catch (error) {
    // A full disk rolls back everything: another SAVEPOINT would then open, and RELEASE commit, a transaction of its own.
    if (!connection.hasTransaction()) throw state.lost ?? error
    connection.prepare('ROLLBACK TO writer').run()
    connection.prepare('RELEASE writer').run()
    return () => writer.reject(toFailure(error))
  } finally {
    state.over = true
  }
}
