import type { TransactionOptions, Writing } from '../database.ts'
import { isConnectionGone, toStorageFailure } from '../errors.ts'
import { NO_TIMEOUTS, type PgPool, type PgPoolClient, TIMEOUTS, UNLIMITED_QUERY_MS } from './pool.ts'
import { type RunStatement, toQueries } from './statements.ts'
import type { HalfOpenWatchdog } from './watchdog.ts'

/** A transaction the server gave up for the sake of another one is tried again this often. */
const MAX_ATTEMPTS = 4
const RETRY_CODES = new Set(['40001', '40P01'])

/** Runs `work` in a transaction of its own, on a connection of its own. */
export type RunTransaction = <T>(
  begin: string,
  work: (tx: Writing) => Promise<T>,
  options?: TransactionOptions,
) => Promise<T>

/** Transactions on the connections of a pool; one that the server aborts for another one runs again. */
export function createTransactions(
  pool: PgPool,
  watchdog: HalfOpenWatchdog,
  runStatement: RunStatement,
): RunTransaction {
  const control = (client: PgPoolClient, sql: string) => watchdog.watch(client, () => client.query(sql))

  const once: RunTransaction = async (begin, work, { timeout } = {}) => {
    const limit = timeout === false ? { query_timeout: UNLIMITED_QUERY_MS } : {}
    const client = await pool.connect()
    const { tx, state } = openTransaction((sql, values) => runStatement(client, sql, { values, ...limit }))
    try {
      // Not waited for: the first statements go out with it. Where it fails, so does everything on the connection.
      const begun = control(client, begin + (timeout === false ? NO_TIMEOUTS : TIMEOUTS))
      tx.defer(begun)
      const value = await work(tx)
      if (state.lost) throw state.lost
      state.over = true
      // After a failed statement COMMIT rolls back, and shows it only in its tag.
      const committed = control(client, 'COMMIT')
      await Promise.allSettled([committed, ...state.deferred])
      if (state.lost) throw state.lost
      await Promise.all([committed, ...state.deferred])
      client.release()
      return value
    } catch (error) {
      // A connection that cannot even roll back is thrown away; one that is gone is not asked, it would not answer.
      if (isConnectionGone(error)) client.release(error as Error)
      else
        await control(client, 'ROLLBACK').then(
          () => client.release(),
          (broken) => client.release(broken),
        )
      throw error
    } finally {
      state.over = true
    }
  }

  return async (begin, work, options) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(begin, work, options)
      } catch (error) {
        if (attempt < MAX_ATTEMPTS && RETRY_CODES.has((error as { code?: string }).code ?? '')) continue
        throw toStorageFailure(error)
      }
    }
  }
}

/** A transaction from the inside: `over` once it has ended, `lost` to the first statement that failed. */
interface TransactionState {
  over: boolean
  lost?: unknown
  deferred: Promise<unknown>[]
}

function openTransaction(run: Parameters<typeof toQueries>[0]): { tx: Writing; state: TransactionState } {
  const state: TransactionState = { over: false, deferred: [] }
  const queries = toQueries(async (sql, values) => {
    if (state.over) throw new Error('The transaction is over: await each tx call inside write()')
    try {
      return await run(sql, values)
    } catch (error) {
      state.lost ??= error
      throw error
    }
  })
  const defer = (statements: Promise<unknown>) => {
    // Handled here too, for a transaction that ends before it looks at them.
    statements.catch(() => {})
    state.deferred.push(statements)
  }
  return { tx: { ...queries, defer }, state }
}
