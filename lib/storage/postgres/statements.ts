import { digest } from '../../core/ids.ts'
import type { Queries } from '../database.ts'
import type { Names } from '../names/names.ts'
import type { Sql } from '../sql.ts'
import type { PgPoolClient, PgQuery, PgResult } from './pool.ts'
import { gatherTurn } from './turn.ts'
import type { HalfOpenWatchdog } from './watchdog.ts'

/** Runs a statement of a store on a connection. */
export type RunStatement = (client: PgPoolClient, sql: Sql, query?: Pick<PgQuery, 'query_timeout'>) => Promise<PgResult>

/** Creates a function that runs named statements, which are prepared once on each connection. */
export function createStatements(watchdog: HalfOpenWatchdog, names: Names | undefined): RunStatement {
  const statements = new Map<string, { name: string; text: string }>()

  function prepare(sql: string) {
    // The name is a digest of the text: another user of the same pool may have prepared statements on the connection.
    const known = statements.get(sql)
    if (known) return known
    const qualified = names ? names.qualify(sql) : sql
    const statement = { name: digest(qualified), text: numbered(qualified) }
    statements.set(sql, statement)
    return statement
  }

  return (client, sql, query) => {
    // A pooler may run the statement on another connection than the one on which it was prepared.
    const { name, text } = prepare(sql.text)
    const statement = client.isUnnamed ? { text } : { name, text }
    gatherTurn(client)
    return watchdog.watch(client, () => client.query({ ...statement, values: sql.params, ...query }))
  }
}

/** The queries of store functions, on a function that runs a statement. */
export function toQueries(run: (sql: Sql) => Promise<PgResult>, names: Names | undefined): Queries {
  return {
    dialect: 'postgresql',
    names,
    all: async <T>(sql: Sql) => (await run(sql)).rows as T[],
    get: async <T>(sql: Sql) => (await run(sql)).rows[0] as T | undefined,
    run: async (sql) => (await run(sql)).rowCount ?? 0,
  }
}

/** Replaces each `?` with `$1`, `$2`, …; the SQL of the stores has no `?` with another meaning. */
export function numbered(sql: string): string {
  let index = 0
  return sql.replaceAll('?', () => `$${++index}`)
}
