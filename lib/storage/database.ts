import type { Names } from './names/names.ts'
import type { Sql } from './sql.ts'

/** The types of statement parameters that both databases support. */
export type Primitive = string | number | null

/** A row of a result: column → value. */
export type Row = Record<string, Primitive>

/** The two SQL dialects. */
export type Dialect = 'sqlite' | 'postgresql'

/** What a store function needs from the database; the same inside and outside a transaction. */
export interface Queries {
  readonly dialect: Dialect
  /** The names of the tables, if they are not the plain ones: for queries of the catalog. Statements use the plain ones. */
  readonly names?: Names | undefined
  all<T = Row>(sql: Sql): Promise<T[]>
  get<T = Row>(sql: Sql): Promise<T | undefined>
  /** @returns the number of rows changed. */
  run(sql: Sql): Promise<number>
  /**
   * SQLite, outside of transactions: the same as `get` for a statement with one value. The row is kept until the next
   * commit of any process, and is frozen.
   */
  recall?<T = Row>(sql: Sql): Promise<T | undefined>
}

/** The queries of a transaction that writes. */
export interface Writing extends Queries {
  /**
   * Does not wait for statements whose results nothing in the transaction needs: they go out together with the commit.
   * When one of them fails, so does the transaction. They are nothing but statements, all issued by then.
   */
  defer(statements: Promise<unknown>): void
}

/** A transaction that fills empty tables. */
export interface Filling extends Queries {
  /** Adds rows, which have the same columns. */
  insert(table: string, rows: readonly Row[]): Promise<void>
}

/** How a transaction runs. */
export interface TransactionOptions {
  /**
   * `false` turns the statement and lock timeouts off: for work on the whole database that an operator waits for. A number
   * of milliseconds: PostgreSQL ends each statement after it, and the transaction fails (`isOutOfTime`).
   */
  timeout?: false | number
  /**
   * `false` does not wait until the changes are on the disk: a power failure may undo them, unless a later transaction was
   * durable. The end of the process does not.
   */
  durable?: false
  /** PostgreSQL: a snapshot finds its rows by index, whatever the planner knows of the tables. Other transactions always do. */
  by_index?: true
  /**
   * SQLite, on a full disk: `half` and `whole` may use that part of the reserve, for what frees space. `refused` fails
   * untried while the reserve is used up, for what only takes space. Others are tried, and use none.
   */
  full_disk?: 'refused' | 'half' | 'whole'
}

/** A database with transactions: reads see committed rows only, whatever runs at the same time. */
export interface Database extends Queries {
  /**
   * Runs `work` as one transaction and returns once it is durable, unless `durable` is `false`. If `work` throws, it is rolled back.
   *
   * Each `await` inside must be one of its `tx`: others wait for this transaction. Statements that do not need each
   * other's results are issued together (`Promise.all`): PostgreSQL then gets them in one round trip. It may run again from the start
   * (a deadlock; another writer of the same commit that failed), so it must not change anything but the database.
   */
  write<T>(work: (tx: Writing) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Runs several reads on one state of the database. */
  snapshot<T>(work: (db: Queries) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** PostgreSQL: runs `work` as one transaction of any size and duration, in which rows are not inserted one by one. */
  fill?<T>(work: (tx: Filling) => Promise<T>): Promise<T>
  /**
   * Removes deleted rows from the database files too, as far as possible: SQLite empties its WAL, PostgreSQL vacuums
   * these tables.
   *
   * @param options.analyze whether PostgreSQL also updates the statistics of its planner
   * @returns false when it must be retried, because another process still reads the old state
   */
  purge(tables: readonly string[], signal: AbortSignal, options?: { analyze?: boolean }): Promise<boolean>
  /** A token that changes after each commit of another process: the poller compares it. */
  changeToken(): Promise<string>
  /** How many of these rows a transaction may delete now: fewer while it has little but the reserve of a full disk. */
  rowsAtOnce?(rows: number): number
  /** SQLite: makes the reserve for a full disk where there is room. @returns whether it is used up, on a full disk */
  keepReserve?(): boolean
  /** PostgreSQL: the connections of this process, and the calls that wait for one. */
  pool?(): { in_use: number; idle: number; waiting: number }
  /** PostgreSQL: whether a URL differs from that of this database in user and password only. */
  canConnectAs?(url: string): boolean
  /**
   * Opens new connections with the user and the password of this URL, and closes the others as they become free.
   *
   * @throws the error of PostgreSQL, if it refuses them: then nothing has changed
   */
  connectAs?(url: string): Promise<void>
  /** Waits for the transactions in progress, then closes every connection. */
  close(): Promise<void>
}
