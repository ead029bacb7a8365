import type { Client, ClientConfig } from 'pg'
import { type PgPool, UNLIMITED_QUERY_MS } from './pool.ts'

/** The maximum time to connect for the query of `listIdle`, and of the query. */
const IDLE_QUERY_TIMEOUT_MS = 2_000

/**
 * Connects to the server of the pool outside of it, for work on the whole database: the statements take any time, and are
 * sent one after another.
 */
export async function connectClient(pool: PgPool, more: ClientConfig = {}): Promise<Client> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    ...pool.options,
    // Not enumerable in a pool.
    password: pool.options.password,
    query_timeout: UNLIMITED_QUERY_MS,
    pipeline: false,
    ...more,
  })
  client.on('error', () => {})
  await pool.refusals.attempt(() => client.connect())
  return client
}

/** The server processes among these that have waited for a query for more than a second. */
export async function listIdle(pool: PgPool, processes: number[]): Promise<number[]> {
  const timeouts = { connectionTimeoutMillis: IDLE_QUERY_TIMEOUT_MS, query_timeout: IDLE_QUERY_TIMEOUT_MS }
  const client = await connectClient(pool, timeouts)
  try {
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
        WHERE pid = ANY ($1) AND usename = session_user AND state <> 'active'
          AND state_change < now() - interval '1 second'`,
      [processes],
    )
    return rows.map(({ pid }) => pid)
  } finally {
    // Not awaited: it would wait for a server that has become unreachable again.
    client.end().catch(() => {})
  }
}

/**
 * Connects with other credentials, and reads a table of ours.
 *
 * @param table its name in a statement
 * @throws the error of PostgreSQL when it refuses them
 */
export async function tryCredentials({ options }: PgPool, connectionString: string, table: string): Promise<void> {
  const { default: pg } = await import('pg')
  const timeouts = { connectionTimeoutMillis: IDLE_QUERY_TIMEOUT_MS, query_timeout: IDLE_QUERY_TIMEOUT_MS }
  const client = new pg.Client({ ...options, connectionString, ...timeouts })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(`SELECT 1 FROM ${table} LIMIT 1`)
  } finally {
    client.end().catch(() => {})
  }
}
