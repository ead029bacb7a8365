import type { Queries, TransactionOptions } from '../database.ts'
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
  work: (tx: Queries) => Promise<T>,
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
      await control(client, begin + (timeout === false ? NO_TIMEOUTS : TIMEOUTS))
      const value = await work(tx)
      // After a failed statement COMMIT rolls back, and says so only in its tag.
      if (state.lost) throw state.lost
      await control(client, 'COMMIT')
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

/** The queries of a transaction, and whether it is over or lost to a statement that failed. */
function openTransaction(run: Parameters<typeof toQueries>[0]) {
  const state: { over: boolean; lost?: unknown } = { over: false }
  const tx = toQueries(async (sql, values) => {
    if (state.over) throw new Error('The transaction is over: await each tx call inside write()')
    try {
      return await run(sql, values)
    } catch (error) {
      state.lost ??= error
      throw error
    }
  })
  return { tx, state }
}
