import type { Database } from '../database.ts'
import { toStorageFailure } from '../errors.ts'
import type { Names } from '../names/names.ts'
import type { PgResult } from '../postgres/pool.ts'
import { numbered, toQueries } from '../postgres/statements.ts'
import { firstFailure, openTransaction } from '../postgres/transaction.ts'
import { type Sql, sql } from '../sql.ts'
import type { HostClient, SharedResult } from './client.ts'
import { createSharedDatabase } from './database.ts'

const INT8_OID = 20

/** SQLSTATEs: no transaction is open; the open one has failed; there is no such table, schema or column. */
const REFUSALS: Record<string, string> = {
  '25P01':
    'withTransaction: no transaction is open on this client. Send BEGIN first, and pass the client that sent it, not a pool',
  '25P02': 'withTransaction: the transaction of the client has failed before, and can only be rolled back',
  '42P01': 'withTransaction: this client is connected to another database than the service',
}

/** Tells databases apart, also a copy from its original: the history, and the id of the database at its server. */
export const PLACE = sql`(SELECT value FROM meta WHERE name = 'epoch') || ' ' ||
  (SELECT oid FROM pg_database WHERE datname = current_database())`

/**
 * Runs `work` in the transaction that is open on a client of the host. Nothing is set, committed or rolled back here.
 *
 * @param placeOf {@link PLACE} of the service's own database
 */
export async function shareWithPostgres<T>(
  client: HostClient,
  { names, placeOf }: { names: Names | undefined; placeOf: () => Promise<string> },
  work: (db: Database, xid?: string) => Promise<T>,
): Promise<SharedResult<T>> {
  const texts = new Map<string, string>()
  const numberedText = (text: string) => {
    const numberedSql = texts.get(text) ?? numbered(names ? names.qualify(text) : text)
    texts.set(text, numberedSql)
    return numberedSql
  }
  let last: Promise<unknown> = Promise.resolve()
  // One after another: a client of the host may not be in pipeline mode.
  const sendInTurn = (text: string, params: Sql['params']) => {
    const result = last.then(() => send(client, text, params))
    last = result.catch(() => {})
    return result
  }
  const query = ({ text, params }: Sql) => sendInTurn(numberedText(text), params)
  const xid = await join(query, placeOf)
  const db = createSharedDatabase({
    queries: toQueries(query, names),
    control: (text) => sendInTurn(text, []),
    runWork: async (run) => {
      const { tx, state } = openTransaction(query, names)
      const value = await run(tx).catch((error) => Promise.reject(firstFailure(error, state)))
      await Promise.all(state.deferred)
      if (state.lost) throw state.lost
      state.over = true
      return value
    },
    toFailure: toStorageFailure,
  })
  try {
    return { value: await work(db, xid), xid }
  } finally {
    await db.end()
  }
}

/** @returns the id of the transaction. @throws Error when there is none, or it is on another database */
async function join(query: (sql: Sql) => Promise<PgResult>, placeOf: () => Promise<string>) {
  try {
    // Outside a transaction it fails. A pool fails too: each of its queries is a transaction of its own.
    await query(sql`SAVEPOINT chat_server`)
    const { rows } = await query(sql`SELECT ${PLACE} AS place, pg_current_xact_id()::text AS xid`)
    await query(sql`RELEASE SAVEPOINT chat_server`)
    const { place, xid } = rows[0] as { place: string; xid: string }
    if (place !== (await placeOf())) throw new Error(REFUSALS['42P01'])
    return xid
  } catch (cause) {
    const says = REFUSALS[(cause as { code?: string }).code ?? '']
    throw says ? new Error(says, { cause }) : toStorageFailure(cause)
  }
}

async function send(client: HostClient, text: string, params: Sql['params']): Promise<PgResult> {
  const result = (await client.query(text, [...params] as never[])) as
    | (PgResult & { fields?: { name: string; dataTypeID: number }[] })
    | undefined
  if (!Array.isArray(result?.rows) || !Array.isArray(result.fields)) {
    throw new Error('withTransaction: the result of query() must be that of pg, with rows, rowCount and fields')
  }
  // Without it, a 64-bit integer would stay a text, and no row would be found by it.
  const columns = Object.keys(result.rows[0] ?? {})
  const types = new Map(result.fields.map(({ name, dataTypeID }) => [name, dataTypeID]))
  const untyped = columns.find((name) => typeof types.get(name) !== 'number')
  if (untyped !== undefined) {
    throw new Error(
      `withTransaction: the fields of a result of query() must have dataTypeID, as those of pg: that of "${untyped}" is missing`,
    )
  }
  // The host's connection returns them as text, or as its parser does: ours are far below 2^53.
  const wide = result.fields.filter(({ dataTypeID }) => dataTypeID === INT8_OID).map(({ name }) => name)
  for (const row of result.rows as Record<string, unknown>[])
    for (const name of wide) if (row[name] !== null) row[name] = Number(row[name])
  return result
}
