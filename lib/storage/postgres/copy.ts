import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import type { Filling, Primitive, Row } from '../database.ts'
import type { Names } from '../names/names.ts'
import { connectClient } from './client.ts'
import { BEGIN, type PgPool } from './pool.ts'
import { numbered, toQueries } from './statements.ts'

/** The transaction waits for an archive, which may come from a slow network. */
const BEGIN_LONG = `${BEGIN}; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0`

/** Runs `work` as one transaction that fills tables by COPY. Nothing of it remains if it fails, or the process ends. */
export async function fillByCopy<T>(
  pool: PgPool,
  names: Names | undefined,
  work: (tx: Filling) => Promise<T>,
): Promise<T> {
  const nameOf = (table: string) => names?.inStatement(table) ?? table
  const client = await connectClient(pool)
  try {
    await client.query(BEGIN_LONG)
    const numberedText = (text: string) => numbered(names ? names.qualify(text) : text)
    const queries = toQueries(
      ({ text, params }) => client.query({ text: numberedText(text), values: [...params] }),
      names,
    )
    const result = await work({ ...queries, insert: (table, rows) => copyInto(client, nameOf(table), rows) })
    await client.query('COMMIT')
    return result
  } finally {
    // Without a commit the server rolls back.
    await client.end().catch(() => {})
  }
}

async function copyInto(client: Client, table: string, rows: readonly Row[]): Promise<void> {
  const { from } = await import('pg-copy-streams')
  const columns = Object.keys(rows[0]!)
  const copy = client.query(from(`COPY ${table} (${columns.join(', ')}) FROM STDIN`))
  await pipeline(Readable.from([Buffer.from(rows.map((row) => toLine(columns, row)).join(''))]), copy)
}

/** A row in the text format of COPY (https://www.postgresql.org/docs/current/sql-copy.html). */
function toLine(columns: readonly string[], row: Row): string {
  return `${columns.map((column) => toField(row[column]!)).join('\t')}\n`
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function toField(value: Primitive): string {
  if (value === null) return '\\N'
  return typeof value === 'string' ? value.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character]!) : String(value)
}
