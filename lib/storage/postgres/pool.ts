import type { Client, ClientBase, ClientConfig, PoolConfig } from 'pg'
import type { NamesOf } from '../../core/known-names.ts'
import { CONNECT_TIMEOUT_MS, lookAt, typesOf } from './outlook.ts'
import { createRefusals, type Refusals } from './refusals.ts'
import type { Connection } from './watchdog.ts'

/**
 * A transaction only waits for its own statements: an idle one belongs to a process that is blocked, or has lost its
 * network, and blocks others. Less than half of the time that these wait: one that waits behind it may be lost as well.
 */
const IDLE_TIMEOUT_MS = 2_000

/** The maximum time that a statement waits for another transaction, and that it runs; then the call is `unavailable`. */
const LOCK_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 10_000

/** The client's own limit, for a server that has stopped, or a network that drops packets: no result arrives then. */
export const RESULT_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 2_000

/**
 * Begins a transaction. The role or the database may have another default: then a statement that waits for a lock would
 * fail, or not see what the holder of the lock has committed.
 */
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'

/**
 * The settings of each transaction, in the same message as BEGIN. Settings of the connection would not work with a pooler
 * such as PgBouncer: it refuses them, and gives the connection to other clients between transactions.
 */
const TIMEOUTS = `; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`

/**
 * More settings of a transaction that writes: it finds its rows by index, in the order of its joins. The planner knows
 * nothing of a new table, and a connection keeps its plan while the table grows: it would read whole tables for each post.
 */
export const BY_INDEX = [
  'enable_seqscan = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
  'join_collapse_limit = 1',
  // A stored result makes it seem cheap to compare all rows with all others, where each could be found by index.
  'enable_material = off',
  // Where there is no index, a scan that is turned off seems expensive enough to be compiled.
  'jit = off',
]
  .map((setting) => `; SET LOCAL ${setting}`)
  .join('')

/** Settings without timeouts of statements. The client still needs one, since pg has no unlimited timeout: a day. */
const NO_TIMEOUTS = `; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0`

export const UNLIMITED_QUERY_MS = 86_400_000

/** The settings of a transaction whose statements may take as long as `timeout`; `false`: any time. */
export function timeoutSettings(timeout: number | false = STATEMENT_TIMEOUT_MS): string {
  if (timeout === false) return NO_TIMEOUTS
  if (timeout >= STATEMENT_TIMEOUT_MS) return TIMEOUTS
  // Zero would be no timeout.
  return `${TIMEOUTS}; SET LOCAL statement_timeout = ${Math.max(1, Math.ceil(timeout))}`
}

interface PgClient {
  query(query: string | PgQuery, values?: readonly unknown[]): Promise<PgResult>
}

export interface PgQuery {
  name?: string
  text: string
  values?: readonly unknown[]
  query_timeout?: number
}

export interface PgResult {
  rows: unknown[]
  rowCount: number | null
}

export interface PgPoolClient extends PgClient, Connection {
  /** As the URL has it; with Unix domain sockets their folder. */
  host?: string
  /** Whether statements are sent without a name: a pooler may run each transaction on another connection. */
  isUnnamed?: boolean
  /** Whether each statement outside of transactions needs one: a pooler leads to sessions with another isolation. */
  needsBegin?: boolean
  /** When the server that it leads to was started: this identifies a server. */
  server?: string
  /** When it was opened, by `performance.now()`. */
  connected_at?: number
  release(broken?: Error | boolean): void
}

/** The used part of pg's `Pool`: the published types refer to no types of pg. */
export interface PgPool extends PgClient {
  readonly options: ConnectionOptions
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
  connect(): Promise<PgPoolClient>
  end(): Promise<void>
  /** Whether it is the host's: its address is not changed here. */
  readonly is_shared?: true
  /** What the server has refused, by which all new connections are paced. */
  readonly refusals: Refusals
}

/** How each connection of a pool is opened. */
interface ConnectionOptions {
  /** New connections take another one, once it is replaced. */
  connectionString: string
  /** Not enumerable. */
  readonly password?: string
}

/** How to connect; a setting in the URL has precedence. */
export interface PoolOptions {
  url: string
  /** The maximum number of connections. Default 10. */
  max?: number
  /** The name of the connections at the server. */
  application_name?: string
  /** Whether to prepare each statement once per connection. Default true, unless the connection leads to a pooler. */
  prepared_statements?: boolean
}

/** The options that exist. */
export const POOL_OPTIONS: NamesOf<PoolOptions> = { url: 0, max: 0, application_name: 0, prepared_statements: 0 }

/** Creates a pool whose connections have the timeouts of this file. */
export async function createPool(options: PoolOptions): Promise<PgPool> {
  // Imported on demand: a service on SQLite does not need pg.
  const { default: pg } = await import('pg')
  const refusals = createRefusals()
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max ?? 10,
    application_name: options.application_name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: RESULT_TIMEOUT_MS,
    keepAlive: true,
    // Sends statements that are issued together without waiting for the results in between.
    pipeline: true,
    Client: pacedClient(pg.Client, refusals, options.prepared_statements ?? true),
    types: typesOf(pg),
  } satisfies PoolConfig & { Client: unknown })
  // The query that uses a dropped connection fails with the error. The pool replaces a dropped idle connection.
  pool.on('error', () => {})
  return Object.assign(pool, { refusals }) as unknown as PgPool
}

/** The class of the connections of a pool. A pooler refuses a connection no earlier than at its first statement. */
function pacedClient(Base: typeof Client, refusals: Refusals, isPrepared: boolean): typeof Client {
  const open = (connect: () => Promise<unknown>, client: Client) =>
    refusals.attempt(async () => {
      await connect()
      await setUp(client, isPrepared).catch((error) => {
        // The pool would wait for the server to close the connection, and so would the caller, for ever if it does not.
        const { connection } = client as unknown as Connection
        connection.stream.destroy()
        throw error
      })
    })

  class PacedClient extends Base {
    constructor(config?: ClientConfig | string) {
      super(config)
      this.on('error', () => {})
    }

    override connect(): Promise<Client>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): Promise<Client> | undefined {
      const opened = open(() => super.connect(), this).then(() => this)
      if (!callback) return opened
      // The pool calls it back in any case.
      opened.then(() => callback(undefined as unknown as Error), callback)
    }
  }
  return PacedClient as typeof Client
}

/**
 * Sets the timeouts and the isolation of statements outside of transactions, unless the connection leads to a pooler: there the next
 * client of the connection would get them, too.
 */
async function setUp(client: ClientBase, isPrepared: boolean): Promise<void> {
  const settings = `CASE WHEN pg_backend_pid() = $1
                         THEN set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', false)
                           || set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', false)
                           || set_config('default_transaction_isolation', 'read committed', false) END`
  const { is_direct, server, isolation } = await lookAt(client, settings)
  Object.assign(client, {
    isUnnamed: !isPrepared || !is_direct,
    needsBegin: !is_direct && isolation !== 'read committed',
    server,
    connected_at: performance.now(),
  })
}
