import type { Storage } from '../../lib/index.ts'
import type { Queries } from '../../lib/storage/database.ts'
import type { Sql } from '../../lib/storage/sql.ts'

/** Calls `note` with each statement that reads, before it runs. */
export function recordedQueries<T extends Queries>(queries: T, note: (sql: Sql) => void): T {
  const noted = (sql: Sql) => {
    note(sql)
    return sql
  }
  return {
    ...queries,
    all: (sql: Sql) => queries.all(noted(sql)),
    get: (sql: Sql) => queries.get(noted(sql)),
  }
}

/** The same for `wrap` of {@link startService}. */
export function recorded(note: (sql: Sql) => void): (storage: Storage) => Storage {
  const queriesOf = <T extends Queries>(queries: T): T => recordedQueries(queries, note)
  return ({ db, ...storage }) => ({
    ...storage,
    db: {
      ...queriesOf(db),
      snapshot: (read, options) => db.snapshot((queries) => read(queriesOf(queries)), options),
      write: (work, options) => db.write((tx) => work(queriesOf(tx)), options),
    },
  })
}
