import type { Client, ClientConfig } from 'pg'
import { type PgPool, UNLIMITED_QUERY_MS } from './pool.ts'

/**
 * A connection to the server of the pool that is not part of it, for work on the whole database: its statements take any
 * time, and are sent one after another.
 */
export async function createClient(pool: PgPool): Promise<Client> {
  const options: ClientConfig = pool.options
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    ...options,
    // Not enumerable in a pool.
    password: options.password,
    query_timeout: UNLIMITED_QUERY_MS,
    pipeline: false,
  })
  client.on('error', () => {})
  return client
}
