import pg from 'pg'
import { digest } from '../ids.ts'
import type { Database, Patience, Primitive, Queries, Row } from './database.ts'
import { createDoor } from './door.ts'
import { isConnectionGone, toStorageFailure } from './failures.ts'
import { type Connection, createSilenceWatch } from './silence.ts'

/** How long a request waits for a free connection, or for a server that does not answer. */
const CONNECT_TIMEOUT_MS = 4_000

/** A transaction never waits for anything else: one that does is of a process that hangs, and holds others up. */
const IDLE_TIMEOUT_MS = 5_000

/** How long a statement may wait for another transaction, and run altogether; then it is `unavailable`. */
const LOCK_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 10_000

/** When the server, or the way to it, is gone without a word. It bounds how long callers wait for a clear answer. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 2_000

/** How long a server may take to say what became of an answer, and to take the connection on which it is asked. */
const ASK_TIMEOUT_MS = 2_000

/** What a transaction that may take long begins with, and how long it waits for an answer: pg knows no "for ever". */
const NO_TIMEOUTS = '; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0'
const PATIENT_TIMEOUT_MS = 86_400_000

/** A transaction the server gave up for the sake of another one is tried again this often. */
const MAX_ATTEMPTS = 4
const RETRY_CODES = new Set(['40001', '40P01'])

const INT8_OID = 20

interface PgClient {
  query(query: string | PgQuery, values?: unknown[]): Promise<PgResult>
}

interface PgQuery {
  name?: string
  text: string
  values?: unknown[]
  query_timeout?: number
}

interface PgResult {
  rows: unknown[]
  rowCount: number | null
}

interface PgPoolClient extends PgClient, Connection {
  release(broken?: Error | boolean): void
}

/** The part of pg's `Pool` used here: published types name none of pg's. */
export interface PgPool extends PgClient {
  readonly options: object
  connect(): Promise<PgPoolClient>
  end(): Promise<void>
}

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
  getInstance(): PgPool
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
  let pool: PgPool | undefined
  const open = () => (pool ??= createPool(options))
  return {
    name: 'postgresql',
    dialect: 'postgresql',
    getInstance: open,
    exec: (sql) => open().query(sql),
    prepare: (sql) => toStatement(async (params) => (await open().query(numbered(sql), params)).rows),
    dispose: () => pool?.end(),
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

function createPool(options: { url: string; max?: number }): PgPool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max ?? 10,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    // 64-bit integers as numbers, for this pool only: ours are counts and microseconds, far below 2^53.
    types: {
      getTypeParser: (oid, format) =>
        oid === INT8_OID && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
    },
  })
  // A dropped connection is reported by the query that used it; an idle one is simply replaced.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Of processes that serve connections, those that have answered a second ago and have got no other query since. */
async function listIdle(pool: PgPool, processes: number[]): Promise<number[]> {
  const options: pg.ClientConfig = pool.options
  const client = new pg.Client({
    ...options,
    // Not enumerable in a pool.
    password: options.password,
    connectionTimeoutMillis: ASK_TIMEOUT_MS,
    query_timeout: ASK_TIMEOUT_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
        WHERE pid = ANY ($1) AND usename = current_user AND state <> 'active'
          AND state_change < now() - interval '1 second'`,
      [processes],
    )
    return rows.map(({ pid }) => pid)
  } finally {
    // Not waited for: it would wait for a server that is gone again.
    client.end().catch(() => {})
  }
}

/** `?` → `$1`, `$2`, …; the SQL here has no `?` of another meaning. */
function numbered(sql: string): string {
  let index = 0
  return sql.replaceAll('?', () => `$${++index}`)
}

/** Our face of a PostgreSQL pool: a connection for each transaction, named statements prepared once on each. */
export function createPostgresDatabase(pool: PgPool): Database {
  const statements = new Map<string, { name: string; text: string }>()
  const door = createDoor()
  const silence = createSilenceWatch((processes) => listIdle(pool, processes))

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

  const ask = (client: PgPoolClient, query: string | PgQuery) => silence.watch(client, () => client.query(query))

  async function queryOnce(query: PgQuery): Promise<PgResult> {
    const client = await pool.connect()
    try {
      const result = await ask(client, query)
      client.release()
      return result
    } catch (error) {
      client.release(isConnectionGone(error))
      throw error
    }
  }

  const outside = queries((sql, values) =>
    door.enter(async () => {
      try {
        return await queryOnce({ ...prepare(sql), values })
      } catch (error) {
        throw toStorageFailure(error)
      }
    }),
  )

  async function transaction<T>(
    begin: string,
    work: (tx: Queries) => Promise<T>,
    { patient }: Patience = {},
  ): Promise<T> {
    const timeout = patient ? { query_timeout: PATIENT_TIMEOUT_MS } : {}
    const client = await pool.connect()
    let over = false
    let lost: unknown
    const tx = queries(async (sql, values) => {
      if (over) throw new Error('The transaction is over: await each tx call inside write()')
      try {
        return await ask(client, { ...prepare(sql), values, ...timeout })
      } catch (error) {
        lost ??= error
        throw error
      }
    })
    try {
      await ask(client, patient ? begin + NO_TIMEOUTS : begin)
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

  async function retried<T>(begin: string, work: (tx: Queries) => Promise<T>, options?: Patience): Promise<T> {
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
    write: (work, options) => door.enter(() => retried('BEGIN', work, options)),
    snapshot: (work, options) =>
      door.enter(() => retried('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work, options)),
    // The set of transactions that count as finished: it changes exactly when a commit becomes visible.
    changeToken: async () => {
      const row = await outside.get<Row>('SELECT pg_current_snapshot()::text AS token')
      return String(row?.token)
    },
    close: () =>
      door.close(() => {
        silence.close()
        return pool.end()
      }),
  }
}
