import { ChatError } from '../../core/errors.ts'
import type { Database, Queries, Row, Writing } from '../database.ts'
import type { Sql } from '../sql.ts'

/** What differs between the databases. */
interface Parts {
  queries: Queries
  /** Sends a statement that controls the transaction. */
  control: (sql: string) => Promise<unknown> | unknown
  /** Runs the work of one write to the end of its last statement. */
  runWork: <T>(work: (tx: Writing) => Promise<T>) => Promise<T>
  toFailure: (error: unknown) => unknown
}

/** A database inside a transaction of the host, until `end()`. */
export interface SharedDatabase extends Database {
  /** Refuses further calls, and waits for those in progress: afterwards nothing more is sent. */
  end(): Promise<void>
}

/**
 * A database whose statements are all part of one transaction of the host. A write is a savepoint, so that one that fails
 * leaves the rest of the transaction as it is; the host decides what becomes of that.
 *
 * Calls run one after another, since a savepoint would take up the statements of the others.
 */
export function createSharedDatabase({ queries, control, runWork, toFailure }: Parts): SharedDatabase {
  let last: Promise<unknown> = Promise.resolve()
  let isOver = false

  function inTurn<T>(call: () => Promise<T>): Promise<T> {
    if (isOver) return Promise.reject(new Error('withTransaction is over: await each call of its chat inside it'))
    const result = last.then(call).catch((error) => Promise.reject(toFailure(error)))
    last = result.catch(() => {})
    return result
  }

  async function write<T>(work: (tx: Writing) => Promise<T>): Promise<T> {
    await control('SAVEPOINT chat_server')
    try {
      const value = await runWork(work)
      await control('RELEASE SAVEPOINT chat_server')
      return value
    } catch (error) {
      // On a lost connection this fails as well: the first error has the reason.
      await Promise.resolve(control('ROLLBACK TO SAVEPOINT chat_server'))
        .then(() => control('RELEASE SAVEPOINT chat_server'))
        .catch(() => {})
      throw error
    }
  }

  const refused = (what: string) => async () => {
    throw new ChatError('unavailable', { message: `${what} cannot be part of a transaction of the host.` })
  }
  return {
    dialect: queries.dialect,
    names: queries.names,
    all: <T = Row>(sql: Sql) => inTurn(() => queries.all<T>(sql)),
    get: <T = Row>(sql: Sql) => inTurn(() => queries.get<T>(sql)),
    run: (sql) => inTurn(() => queries.run(sql)),
    write: (work) => inTurn(() => write(work)),
    // The transaction decides what it sees.
    snapshot: (work) => inTurn(() => work(queries)),
    purge: refused('A vacuum'),
    changeToken: refused('A look at other processes'),
    close: async () => {},
    async end() {
      isOver = true
      await last
    },
  }
}
