import { AsyncLocalStorage } from 'node:async_hooks'
import type { Database } from './database.ts'

/**
 * Wraps the database: a transaction that uses it instead of its `tx` throws. For tests and development.
 *
 * On SQLite such a transaction waits for itself; on PostgreSQL it takes a second connection, and if such transactions
 * hold all connections, each waits for the others.
 */
export function guardTransactions(db: Database): Database {
  const inside = new AsyncLocalStorage<true>()
  const outer = async <T>(call: () => Promise<T>): Promise<T> => {
    if (inside.getStore()) throw new Error('A transaction used the outer database: use its tx')
    return call()
  }
  const { fill, recall } = db
  return {
    dialect: db.dialect,
    names: db.names,
    all: (sql, ...params) => outer(() => db.all(sql, ...params)),
    get: (sql, ...params) => outer(() => db.get(sql, ...params)),
    ...(recall && { recall: (sql, param) => outer(() => recall(sql, param)) }),
    run: (sql, ...params) => outer(() => db.run(sql, ...params)),
    write: (work, options) => outer(() => db.write((tx) => inside.run(true, () => work(tx)), options)),
    snapshot: (work, options) => outer(() => db.snapshot((tx) => inside.run(true, () => work(tx)), options)),
    ...(fill && { fill: (work) => outer(() => fill((tx) => inside.run(true, () => work(tx)))) }),
    purge: (tables, signal, options) => outer(() => db.purge(tables, signal, options)),
    ...(db.pool && { pool: db.pool }),
    changeToken: () => outer(() => db.changeToken()),
    close: () => outer(() => db.close()),
  }
}
