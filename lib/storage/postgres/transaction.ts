import type { TransactionOptions, Writing } from '../database.ts'
import { isAfterFailure, isConnectionGone, isReadOnly, toStorageFailure } from '../errors.ts'
import type { Names } from '../names/names.ts'
import { type PgPoolClient, timeoutSettings, UNLIMITED_QUERY_MS } from './pool.ts'
import type { Connections } from './servers.ts'
import { type RunStatement, toQueries } from './statements.ts'
import { gatherTurn } from './turn.ts'
import type { HalfOpenWatchdog } from './watchdog.ts'

/** How often a transaction runs at most, if the server aborts it in favour of another one. */
const MAX_ATTEMPTS = 4
const RETRY_CODES = new Set(['40001', '40P01'])

const NOT_DURABLE = '; SET LOCAL synchronous_commit = off'

/** Runs `work` in a transaction, on a connection of its own. */
export type RunTransaction = <T>(
  begin: string,
  work: (tx: Writing) => Promise<T>,
  options?: TransactionOptions,
) => Promise<T>

/** Creates a function that runs transactions on connections, again if the server aborts one in favour of another one. */
export function createTransactions(
  { acquire, suspect }: Connections,
  watchdog: HalfOpenWatchdog,
  runStatement: RunStatement,
  names: Names | undefined,
): RunTransaction {
  const control = (client: PgPoolClient, sql: string) => {
    gatherTurn(client)
    return watchdog.watch(client, () => client.query(sql))
  }

  const once: RunTransaction = async (begin, work, { timeout, durable } = {}) => {
    const limit = timeout === false ? { query_timeout: UNLIMITED_QUERY_MS } : {}
    const client = await acquire()
    const { tx, state, fail } = openTransaction((sql) => runStatement(client, sql, limit), names)
    try {
      // Not awaited: the first statements are sent together with it. If it fails, no others are sent: each of them
      // would commit by itself.
      const begun = control(client, begin + timeoutSettings(timeout) + (durable === false ? NOT_DURABLE : ''))
      tx.defer(begun.catch(fail))
      const value = await work(tx)
      if (state.lost) throw state.lost
      state.over = true
      // After a failed statement, COMMIT rolls back without an error.
      const committed = control(client, 'COMMIT')
      await Promise.allSettled([committed, ...state.deferred])
      if (state.lost) throw state.lost
      await Promise.all([committed, ...state.deferred])
      client.release()
      return value
    } catch (error) {
      // A statement that the work has not awaited, and issues now, would be sent behind ROLLBACK and commit by itself.
      state.over = true
      if (isReadOnly(error)) suspect()
      // A lost connection is discarded without ROLLBACK, which would get no result; so is one on which ROLLBACK fails.
      if (isConnectionGone(error)) client.release(error as Error)
      else
        await control(client, 'ROLLBACK').then(
          () => client.release(),
          (broken) => client.release(broken),
        )
      throw firstFailure(error, state)
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

/** The state of a transaction: `over` after its end, `lost` is the error of the first failed statement. */
interface TransactionState {
  over: boolean
  lost?: unknown
  deferred: Promise<unknown>[]
}

/**
 * The failure of a transaction whose work has met `error`. Statements are sent without waiting for each other: the work may
 * have met one behind that which failed.
 */
export function firstFailure(error: unknown, { lost }: TransactionState): unknown {
  return isAfterFailure(error) ? (lost ?? error) : error
}

/** The queries of a transaction, and its state. */
export function openTransaction(
  run: Parameters<typeof toQueries>[0],
  names: Names | undefined,
): {
  tx: Writing
  state: TransactionState
  fail: (error: unknown) => never
} {
  const state: TransactionState = { over: false, deferred: [] }
  const fail = (error: unknown): never => {
    state.lost ??= error
    throw error
  }
  const queries = toQueries(async (sql) => {
    if (state.over) throw new Error('The transaction is over: await each tx call inside write()')
    if (state.lost) throw state.lost
    return run(sql).catch(fail)
  }, names)
  const defer = (statements: Promise<unknown>) => {
    // Handled here, too: a transaction that fails earlier does not await them.
    statements.catch(() => {})
    state.deferred.push(statements)
  }
  return { tx: { ...queries, defer }, state, fail }
}
