import type { ClientBase, ClientConfig } from 'pg'
import type { Connection } from './watchdog.ts'

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

/**
 * What each transaction begins with, in the same message as BEGIN: a pooler such as PgBouncer refuses settings at the
 * start of a connection, and gives a connection to others between transactions.
 */
export const TIMEOUTS = `; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`

/** The same without timeouts of statements, and how long the client waits for an answer: pg has no "for ever". */
export const NO_TIMEOUTS = `; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0`
export const UNLIMITED_QUERY_MS = 86_400_000

const INT8_OID = 20

interface PgClient {
  query(query: string | PgQuery, values?: unknown[]): Promise<PgResult>
}

export interface PgQuery {
  name?: string
  text: string
  values?: unknown[]
  query_timeout?: number
}

export interface PgResult {
  rows: unknown[]
  rowCount: number | null
}

export interface PgPoolClient extends PgClient, Connection {
  /** Whether statements are sent without a name: a pooler may run each transaction on another connection. */
  isUnnamed?: boolean
  release(broken?: Error | boolean): void
}

/** The part of pg's `Pool` used here: published types name none of pg's. */
export interface PgPool extends PgClient {
  readonly options: object
  connect(): Promise<PgPoolClient>
  end(): Promise<void>
}

/** How to connect; a setting in the URL counts before the one here. */
export interface PoolOptions {
  url: string
  /** The maximum number of connections. Default 10. */
  pool_size?: number
  /** The name of the connections at the server. */
  application_name?: string
  /** Whether to prepare each statement once per connection. Default true, unless a pooler is in between. */
  prepared_statements?: boolean
}

/** Connections as they are made and set up here. */
export async function createPool(options: PoolOptions): Promise<PgPool> {
  // Loaded here: a service on SQLite does without.
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.pool_size ?? 10,
    application_name: options.application_name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    // Statements that are issued together travel together.
    pipeline: true,
    onConnect: (client) => setUp(client, options.prepared_statements ?? true),
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

/**
 * Sets the timeouts of statements outside of transactions, on a connection that is ours alone. A pooler names another
 * process than the one that answers: what is set there would hold for the next user of the connection.
 */
async function setUp(client: ClientBase, isPrepared: boolean): Promise<void> {
  const { processID } = client as unknown as { processID: number }
  const query = {
    text: `SELECT set_config('lock_timeout', $1, false), set_config('statement_timeout', $2, false)
            WHERE pg_backend_pid() = $3`,
    values: [LOCK_TIMEOUT_MS, STATEMENT_TIMEOUT_MS, processID],
    query_timeout: CONNECT_TIMEOUT_MS,
  }
  const { rowCount } = await client.query(query)
  Object.assign(client, { isUnnamed: !isPrepared || rowCount === 0 })
}

/** Of processes that serve connections, those that have answered a second ago and have got no other query since. */
export async function listIdle(pool: PgPool, processes: number[]): Promise<number[]> {
  const options: ClientConfig = pool.options
  const { default: pg } = await import('pg')
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
