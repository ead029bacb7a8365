import { refuseUnknown } from '../../core/known-names.ts'
import { createPool, type PgPool, POOL_OPTIONS, type PoolOptions } from './pool.ts'
import { numbered } from './statements.ts'

/** A prepared statement, as in db0. */
export interface PostgresStatement {
  bind(...params: unknown[]): PostgresStatement
  all(...params: unknown[]): Promise<unknown[]>
  get(...params: unknown[]): Promise<unknown>
  run(...params: unknown[]): Promise<{ success: boolean }>
}

/** A connector for db0's `createDatabase`. */
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
 * db0's own connector has a single client: it cannot run two transactions at once. The client has no listener for
 * `error` events, so a connection that the server drops ends the process.
 *
 * @throws TypeError without a `url`
 */
export function postgresConnector(options: PoolOptions): PostgresConnector {
  if (typeof options === 'object' && options) refuseUnknown('postgresConnector', options, POOL_OPTIONS)
  if (typeof Object(options).url !== 'string') throw new TypeError("postgresConnector: pass { url: 'postgres://…' }")
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
