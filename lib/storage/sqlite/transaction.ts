import type { Primitive, Queries } from '../database.ts'
import type { SqliteConnection, SqliteStatement } from './connection.ts'

/** A transaction from the inside: `over` once it has ended, `lost` to the trouble that ended it early. */
export interface TransactionState {
  over?: boolean
  lost?: unknown
  /** Whether a statement ran that may have changed something. */
  wrote?: boolean
}

/** The queries of a transaction: they run at once. After trouble that ended the transaction, nothing more runs in it. */
export function toQueries({ prepare, hasTransaction }: SqliteConnection, state: TransactionState): Queries {
  const guarded = <T>(step: () => T): T => {
    if (state.lost) throw state.lost
    if (state.over) throw new Error('The transaction is over: await each tx call inside write()')
    try {
      return step()
    } catch (error) {
      if (!hasTransaction()) state.lost = error
      throw error
    }
  }
  const noted = (sql: string): SqliteStatement => {
    const statement = prepare(sql)
    if (!statement.readonly) state.wrote = true
    return statement
  }
  return {
    dialect: 'sqlite',
    all: async <T>(sql: string, ...params: Primitive[]) => guarded(() => noted(sql).all(...params) as T[]),
    get: async <T>(sql: string, ...params: Primitive[]) => guarded(() => noted(sql).get(...params) as T | undefined),
    run: async (sql, ...params) => guarded(() => Number(noted(sql).run(...params).changes)),
  }
}
