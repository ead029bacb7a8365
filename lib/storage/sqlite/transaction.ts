import type { Queries, Writing } from '../database.ts'
import type { Sql } from '../sql.ts'
import type { SqliteConnection, SqliteStatement } from './connection.ts'

/** The state of a transaction: `over` once it has ended, `lost` to the error that ended it early. */
export interface TransactionState {
  over?: boolean
  lost?: unknown
  /** Whether a statement ran that may have changed data. */
  wrote?: boolean
  /** Statements that the transaction did not wait for. */
  deferred?: Promise<unknown>[]
}

/**
 * The queries of a transaction: they run at once. After an error that ended the transaction, no statement runs in it.
 */
export function toQueries({ names, prepare, hasTransaction }: SqliteConnection, state: TransactionState): Queries {
  const guarded = <T>(step: () => T): T => {
    if (state.lost) throw state.lost
    if (state.over) throw new Error('The transaction is over: await each tx call inside write()')
    try {
      return step()
    } catch (error) {
      if (!hasTransaction()) state.lost = error
      throw error
    }
  }
  const noted = (sql: string): SqliteStatement => {
    const statement = prepare(sql)
    if (!statement.readonly) state.wrote = true
    return statement
  }
  return {
    dialect: 'sqlite',
    names,
    all: async <T>({ text, params }: Sql) => guarded(() => noted(text).all(...params) as T[]),
    get: async <T>({ text, params }: Sql) => guarded(() => noted(text).get(...params) as T | undefined),
    run: async ({ text, params }) => guarded(() => Number(noted(text).run(...params).changes)),
  }
}

/** Queries with deferred statements. Here these have run already: only their failures are reported later. */
export function toWriting(connection: SqliteConnection, state: TransactionState): Writing {
  return {
    ...toQueries(connection, state),
    defer(statements) {
      // Also handled here, for a transaction that ends without awaiting them.
      statements.catch(() => {})
      state.deferred ??= []
      state.deferred.push(statements)
    },
  }
}

/** Runs a transaction's work to the end of its last statement. */
export async function runWork<T>(
  connection: SqliteConnection,
  state: TransactionState,
  work: (tx: Writing) => Promise<T>,
): Promise<T> {
  const value = await work(toWriting(connection, state))
  if (state.deferred) await Promise.all(state.deferred)
  if (state.lost) throw state.lost
  return value
}
