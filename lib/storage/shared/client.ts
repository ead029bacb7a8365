/**
 * A connection of the host to PostgreSQL, on which a transaction is open: pg's `Client` or `PoolClient`, or anything with
 * its `query`, whose result has `rows`, `rowCount` and `fields`.
 */
export interface HostClient {
  query(text: string, values: never[]): Promise<unknown>
}

/** A handle of the host on the same SQLite file: a `Database` of better-sqlite3, or a `DatabaseSync` of node:sqlite. */
export interface HostHandle {
  prepare(sql: string): unknown
  exec(sql: string): unknown
}

/** What `chat.withTransaction` takes. */
export type HostDatabase = HostClient | HostHandle

/** The end of a transaction of the host. */
export interface SharedResult<T> {
  value: T
  /** PostgreSQL: the transaction, which the host commits later. SQLite: nothing, it is committed. */
  xid?: string
}
