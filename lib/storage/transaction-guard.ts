import { AsyncLocalStorage } from 'node:async_hooks'
import type { Database } from './database.ts'

/**
 * The databases whose transactions the caller is in. One for the process: on Node 20 and 22 each instance that was ever
 * used makes every `await` slower, 45 µs with 200 of them.
 */
const inside = new AsyncLocalStorage<readonly Database[]>()

/**
 * Wraps the database: a transaction that uses it instead of its `tx` throws. For tests and development.
 *
 * On SQLite such a transaction waits for itself; on PostgreSQL it takes a second connection, and if such transactions
 * hold all connections, each waits for the others.
 */
export function guardTransactions(db: Database): Database {
  const outer = async <T>(call: () => Promise<T>): Promise<T> => {
    if (inside.getStore()?.includes(db)) throw new Error('A transaction used the outer database: use its tx')
    return call()
  }
  const marked =
    <Tx, T>(work: (tx: Tx) => Promise<T>) =>
    (tx: Tx): Promise<T> =>
      inside.run([...(inside.getStore() ?? []), db], () => work(tx))
  const { fill, recall, rowsAtOnce, keepReserve } = db
  return {
    dialect: db.dialect,
    names: db.names,
    all: (sql, ...params) => outer(() => db.all(sql, ...params)),
    get: (sql, ...params) => outer(() => db.get(sql, ...params)),
    ...(recall && { recall: (sql) => outer(() => recall(sql)) }),
    run: (sql, ...params) => outer(() => db.run(sql, ...params)),
    write: (work, options) => outer(() => db.write(marked(work), options)),
    snapshot: (work, options) => outer(() => db.snapshot(marked(work), options)),
    ...(fill && { fill: (work) => outer(() => fill(marked(work))) }),
    purge: (tables, signal, options) => outer(() => db.purge(tables, signal, options)),
    ...(rowsAtOnce && { rowsAtOnce }),
    ...(keepReserve && { keepReserve }),
    ...(db.pool && { pool: db.pool }),
    ...(db.canConnectAs && { canConnectAs: db.canConnectAs }),
    ...(db.connectAs && { connectAs: db.connectAs }),
    changeToken: () => outer(() => db.changeToken()),
    close: () => outer(() => db.close()),
  }
}
