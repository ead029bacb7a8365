import { digest } from '../../core/ids.ts'
import type { Database, Primitive, Queries, Row, TransactionOptions } from '../database.ts'
import { isConnectionGone, toStorageFailure } from '../errors.ts'
import { createInFlight } from '../in-flight.ts'
import {
  createPool,
  listIdle,
  NO_TIMEOUTS,
  type PgPool,
  type PgPoolClient,
  type PgQuery,
  type PgResult,
  TIMEOUTS,
  UNLIMITED_QUERY_MS,
} from './pool.ts'
import { vacuum } from './vacuum.ts'
import { createHalfOpenWatchdog } from './watchdog.ts'

/** A transaction the server gave up for the sake of another one is tried again this often. */
const MAX_ATTEMPTS = 4
const RETRY_CODES = new Set(['40001', '40P01'])

/** A prepared statement as db0 has it. */
export interface PostgresStatement {
  bind(...params: unknown[]): PostgresStatement
  all(...params: unknown[]): Promise<unknown[]>
  get(...params: unknown[]): Promise<unknown>
  run(...params: unknown[]): Promise<{ success: boolean }>
}

/** A connector as db0's `createDatabase` takes it. */
export interface PostgresConnector {
  name: string
  dialect: 'postgresql'
  getInstance(): Promise<PgPool>
  exec(sql: string): Promise<unknown>
  prepare(sql: string): PostgresStatement
  dispose(): Promise<void> | undefined
}

/**
 * A db0 connector over a pool of PostgreSQL connections.
 *
 * db0's own has a single client: no two transactions at once, and an `error` event nobody hears, which ends the
 * process when the server drops the connection.
 *
 * @param options.max connections at most; default 10
 */
export function postgresConnector(options: { url: string; max?: number }): PostgresConnector {
  let pool: Promise<PgPool> | undefined
  const open = () => {
    pool ??= createPool(options)
    return pool
  }
  return {
    name: 'postgresql',
    dialect: 'postgresql',
    getInstance: open,
    exec: async (sql) => (await open()).query(sql),
    prepare: (sql) => toStatement(async (params) => (await (await open()).query(numbered(sql), params)).rows),
    dispose: async () => (await pool)?.end(),
  }
}

function toStatement(query: (params: unknown[]) => Promise<unknown[]>): PostgresStatement {
  const bound = (given: unknown[] | undefined): PostgresStatement => ({
    bind: (...params: unknown[]) => bound(params),
    all: (...params: unknown[]) => query(given ?? params),
    get: async (...params: unknown[]) => (await query(given ?? params))[0],
    run: async (...params: unknown[]) => {
      await query(given ?? params)
      return { success: true }
    },
  })
  return bound(undefined)
}

/** `?` → `$1`, `$2`, …; the SQL here has no `?` of another meaning. */
function numbered(sql: string): string {
  let index = 0
  return sql.replaceAll('?', () => `$${++index}`)
}

/** Our face of a PostgreSQL pool: a connection for each transaction, named statements prepared once on each. */
export function createPostgresDatabase(pool: PgPool): Database {
  const statements = new Map<string, { name: string; text: string }>()
  const inFlight = createInFlight()
  const watchdog = createHalfOpenWatchdog((processes) => listIdle(pool, processes))

  function prepare(sql: string) {
    // A name that says what is in it: a connection may have come from somebody who uses the same pool.
    const statement = statements.get(sql) ?? { name: digest(sql), text: numbered(sql) }
    statements.set(sql, statement)
    return statement
  }

  function queries(query: (sql: string, values: Primitive[]) => Promise<PgResult>): Queries {
    return {
      dialect: 'postgresql',
      all: async <T>(sql: string, ...params: Primitive[]) => (await query(sql, params)).rows as T[],
      get: async <T>(sql: string, ...params: Primitive[]) => (await query(sql, params)).rows[0] as T | undefined,
      run: async (sql, ...params) => (await query(sql, params)).rowCount ?? 0,
    }
  }

  const ask = (client: PgPoolClient, query: string | PgQuery) => watchdog.watch(client, () => client.query(query))

  /** A pooler may have the statement that was prepared on one connection run on another one. */
  const askFor = (client: PgPoolClient, sql: string, query: Pick<PgQuery, 'values' | 'query_timeout'>) =>
    ask(client, { ...(client.isPooled ? { text: numbered(sql) } : prepare(sql)), ...query })

  async function queryOnce(sql: string, values: Primitive[]): Promise<PgResult> {
    const client = await pool.connect()
    try {
      const result = await askFor(client, sql, { values })
      client.release()
      return result
    } catch (error) {
      client.release(isConnectionGone(error))
      throw error
    }
  }

  const outside = queries((sql, values) =>
    inFlight.track(async () => {
      try {
        return await queryOnce(sql, values)
      } catch (error) {
        throw toStorageFailure(error)
      }
    }),
  )

  async function transaction<T>(
    begin: string,
    work: (tx: Queries) => Promise<T>,
    { timeout }: TransactionOptions = {},
  ): Promise<T> {
    const limit = timeout === false ? { query_timeout: UNLIMITED_QUERY_MS } : {}
    const client = await pool.connect()
    let over = false
    let lost: unknown
    const tx = queries(async (sql, values) => {
      if (over) throw new Error('The transaction is over: await each tx call inside write()')
      try {
        return await askFor(client, sql, { values, ...limit })
      } catch (error) {
        lost ??= error
        throw error
      }
    })
    try {
      await ask(client, begin + (timeout === false ? NO_TIMEOUTS : TIMEOUTS))
      const value = await work(tx)
      // After a failed statement COMMIT rolls back, and says so only in its tag.
      if (lost) throw lost
      await ask(client, 'COMMIT')
      client.release()
      return value
    } catch (error) {
      // A connection that cannot even roll back is thrown away; one that is gone is not asked, it would not answer.
      if (isConnectionGone(error)) client.release(error as Error)
      else
        await ask(client, 'ROLLBACK').then(
          () => client.release(),
          (broken) => client.release(broken),
        )
      throw error
    } finally {
      over = true
    }
  }

  async function retried<T>(
    begin: string,
    work: (tx: Queries) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await transaction(begin, work, options)
      } catch (error) {
        if (attempt < MAX_ATTEMPTS && RETRY_CODES.has((error as { code?: string }).code ?? '')) continue
        throw toStorageFailure(error)
      }
    }
  }

  return {
    ...outside,
    write: (work, options) => inFlight.track(() => retried('BEGIN', work, options)),
    snapshot: (work, options) =>
      inFlight.track(() => retried('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work, options)),
    purge: (tables, signal) =>
      inFlight.track(async () => {
        try {
          await vacuum(pool, tables, signal)
          return !signal.aborted
        } catch (error) {
          throw toStorageFailure(error)
        }
      }),
    // The set of transactions that count as finished: it changes exactly when a commit becomes visible.
    changeToken: async () => {
      const row = await outside.get<Row>('SELECT pg_current_snapshot()::text AS token')
      return String(row?.token)
    },
    close: () =>
      inFlight.close(() => {
        watchdog.close()
        return pool.end()
      }),
  }
}
