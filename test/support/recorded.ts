import type { Storage } from '../../lib/index.ts'
import type { Queries } from '../../lib/storage/database.ts'
import type { Sql } from '../../lib/storage/sql.ts'

/** Calls `note` with each statement that reads, before it runs: for `wrap` of {@link startService}. */
export function recorded(note: (sql: Sql) => void): (storage: Storage) => Storage {
  const noted = (sql: Sql) => {
    note(sql)
    return sql
  }
  const queriesOf = <T extends Queries>(queries: T): T => ({
    ...queries,
    all: (sql: Sql) => queries.all(noted(sql)),
    get: (sql: Sql) => queries.get(noted(sql)),
  })
  return ({ db, ...storage }) => ({
    ...storage,
    db: {
      ...queriesOf(db),
      snapshot: (read, options) => db.snapshot((queries) => read(queriesOf(queries)), options),
      write: (work, options) => db.write((tx) => work(queriesOf(tx)), options),
    },
  })
}
