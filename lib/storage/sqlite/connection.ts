import type { Primitive } from '../database.ts'
import type { Names } from '../names/names.ts'

/** The part of better-sqlite3's `Database` and of node:sqlite's `DatabaseSync` used here. */
export interface SqliteHandle {
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
  close(): void
  /** Whether a transaction is open; node:sqlite calls it `isTransaction`, from Node 22.16 on. */
  readonly inTransaction?: boolean
  readonly isTransaction?: boolean
}

export interface SqliteStatement {
  /** Missing in node:sqlite. */
  readonly readonly?: boolean
  all(...params: Primitive[]): unknown[]
  get(...params: Primitive[]): unknown
  run(...params: Primitive[]): { changes: number | bigint }
}

/** A handle with its prepared statements. */
export interface SqliteConnection {
  readonly names: Names | undefined
  /** Prepares each statement once. */
  prepare(sql: string): SqliteStatement
  /** Runs a statement again: a prepared one changes a setting only once. */
  exec(sql: string): void
  /** Whether a transaction is open: an error such as a full disk may have ended it. */
  hasTransaction(): boolean
  close(): void
}

/** Adds a cache of statements to a handle. */
export function createConnection(handle: SqliteHandle, names: Names | undefined): SqliteConnection {
  const statements = new Map<string, SqliteStatement>()
  return {
    names,
    prepare(sql) {
      const known = statements.get(sql)
      if (known) return known
      const statement = handle.prepare(names ? names.qualify(sql) : sql)
      statements.set(sql, statement)
      return statement
    },

    exec: (sql) => void handle.exec(sql),

    hasTransaction() {
      const isOpen = handle.inTransaction ?? handle.isTransaction
      if (isOpen !== undefined) return isOpen
      try {
        handle.exec('BEGIN')
      } catch {
        return true
      }
      handle.exec('ROLLBACK')
      return false
    },

    close() {
      statements.clear()
      handle.close()
    },
  }
}
