import { Client } from 'pg'
import { pgbouncer, startPgBouncer } from './pgbouncer.ts'

/**
 * Connections to the server for each database: fewer than a service has to PgBouncer, so that those of two transactions
 * that follow each other differ; enough for what holds several open at once.
 */
const KEPT = 4

/** Starts the PgBouncer of a run in which every service reaches PostgreSQL through it (`npm run test:pooled`). */
export function startSharedPooler(url: string) {
  if (!pgbouncer) throw new Error('PgBouncer is not installed')
  return startPgBouncer(url, 'transaction', KEPT, {
    // Each transaction gets another connection than the one before, and so does each statement outside of them.
    server_round_robin: 1,
    max_client_conn: 2000,
    // The databases of tests that have ended leave their connections to the next ones.
    server_idle_timeout: 5,
    server_login_retry: 1,
  })
}

/** What the startup parameters of clients set: PgBouncer sets it again for each of them. */
const OF_CLIENTS = ['application_name', 'client_encoding', 'DateStyle', 'standard_conforming_strings', 'TimeZone']

const LEFT = `SELECT
  ARRAY (SELECT name || ' = ' || setting FROM pg_settings WHERE source = 'session' AND name <> ALL ($1))
  || ARRAY (SELECT 'prepared statement ' || name FROM pg_prepared_statements WHERE name <> '')
  || ARRAY (SELECT 'listens on ' || channel FROM pg_listening_channels() AS channel)
  || ARRAY (SELECT 'cursor ' || name FROM pg_cursors WHERE name <> '')
  || ARRAY (SELECT 'advisory lock ' || objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())
  || ARRAY (SELECT 'table ' || relname FROM pg_class WHERE relnamespace = pg_my_temp_schema()) AS left`

/**
 * Fails if a test has left something on a connection to the server, which the next client of the pooler would get.
 *
 * @param url of a database whose services are closed
 */
export async function assertNothingLeft(url: string): Promise<void> {
  const client = new Client({ connectionString: url, query_timeout: 10_000, connectionTimeoutMillis: 10_000 })
  await client.connect()
  try {
    for (let connection = 0; connection < KEPT; connection++) {
      const { rows } = await client.query<{ left: string[] }>(LEFT, [OF_CLIENTS])
      const [found] = rows
      if (found!.left.length > 0) throw new Error(`Left on a connection of the pooler: ${found!.left.join(', ')}`)
    }
  } finally {
    await client.end()
  }
}
