import { differsInCredentialsOnly } from '../../config/database-url.ts'
import { createInFlight } from '../calls-in-flight.ts'
import type { Database, Row } from '../database.ts'
import { isConnectionGone, isReadOnly, toStorageFailure } from '../errors.ts'
import type { Names } from '../names/names.ts'
import { type Sql, sql } from '../sql.ts'
import { listIdle, tryCredentials } from './client.ts'
import { fillByCopy } from './copy.ts'
import { BEGIN, BY_INDEX, type PgPool, type PgPoolClient, type PgResult } from './pool.ts'
import { type Connections, createConnections } from './servers.ts'
import { createStatements, toQueries } from './statements.ts'
import { createTransactions } from './transaction.ts'
import { vacuum } from './vacuum.ts'
import { createHalfOpenWatchdog } from './watchdog.ts'

const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/** A `Database` on a PostgreSQL pool: each transaction has a connection, on which named statements are prepared once. */
export function createPostgresDatabase(pool: PgPool, names?: Names): Database {
  const inFlight = createInFlight()
  const watchdog = createHalfOpenWatchdog((processes) => listIdle(pool, processes))
  const runStatement = createStatements(watchdog, names)
  const connections = createConnections(pool)
  const transaction = createTransactions(connections, watchdog, runStatement, names)

  async function queryOnce(statement: Sql): Promise<PgResult> {
    const client = await connections.acquire()
    try {
      const run = () => runStatement(client, statement)
      const result = await (client.needsBegin ? inTransaction(client, run) : run())
      client.release()
      return result
    } catch (error) {
      if (isReadOnly(error)) connections.suspect()
      client.release(isConnectionGone(error))
      throw error
    }
  }

  const outside = toQueries((statement) => inFlight.track(() => translated(() => queryOnce(statement))), names)

  return {
    ...outside,
    write: (work, options) =>
      inFlight.track(() => transaction(options?.timeout === false ? BEGIN : `${BEGIN}${BY_INDEX}`, work, options)),
    snapshot: (work, options) =>
      inFlight.track(() => transaction(`${SNAPSHOT}${options?.by_index ? BY_INDEX : ''}`, work, options)),
    fill: (work) => inFlight.track(() => translated(() => fillByCopy(pool, names, work))),
    purge: (tables, signal, options) =>
      inFlight.track(() =>
        translated(() =>
          vacuum(
            pool,
            tables.map((table) => names?.inStatement(table) ?? table),
            signal,
            options,
          ),
        ),
      ),
    // The snapshot, the set of finished transactions, changes exactly when a commit becomes visible.
    changeToken: async () => {
      const row = await outside.get<Row>(sql`SELECT pg_current_snapshot()::text AS token`)
      return String(row?.token)
    },
    pool: () => ({
      in_use: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    ...createCredentials(pool, connections, names),
    close: () =>
      inFlight.close(() => {
        watchdog.close()
        return pool.end()
      }),
  }
}

/** Lets the pool continue with other credentials. */
function createCredentials(
  pool: PgPool,
  connections: Connections,
  names: Names | undefined,
): Pick<Database, 'canConnectAs' | 'connectAs'> {
  return {
    canConnectAs: (url) => !pool.is_shared && differsInCredentialsOnly(pool.options.connectionString, url),
    async connectAs(url) {
      await tryCredentials(pool, url, names?.inStatement('meta') ?? 'meta')
      pool.options.connectionString = url
      pool.refusals.forget()
      connections.renew()
    },
  }
}

/** Sends a statement together with the begin and the end of its transaction. */
async function inTransaction(client: PgPoolClient, run: () => Promise<PgResult>): Promise<PgResult> {
  const sent = [client.query(BEGIN), run(), client.query('COMMIT')] as const
  // A statement that fails makes COMMIT roll back.
  const [begun, , committed] = await Promise.allSettled(sent)
  for (const each of [begun, committed]) if (each.status === 'rejected') throw each.reason
  return sent[1]
}

async function translated<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw toStorageFailure(error)
  }
}
