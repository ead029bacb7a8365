import type { Queries } from '../../storage/database.ts'
import { join, literal, name, sql } from '../../storage/sql.ts'
import { isJson, JSON_COLUMNS } from '../../storage/stored-values.ts'

/** The rows that are read at once. */
const BATCH = 1_000

/**
 * The rows with a column of JSON that is none, by table, column and id. They are parsed here: PostgreSQL before 16 has no test
 * that does not end the transaction. By primary keys.
 */
export async function listBrokenJson(db: Queries): Promise<string[]> {
  const broken: string[] = []
  for (const [table, columns] of Object.entries(JSON_COLUMNS)) {
    const isSet = columns.map((column) => sql`${name(column)} NOT IN ('', '{}', '[]')`)
    const all = sql`SELECT id, ${join(columns.map(name), ', ')} FROM ${name(table)}`
    let after: string | number = table === 'events' ? -1 : ''
    for (let count = BATCH; count === BATCH; ) {
      const rows: (Record<string, unknown> & { id: string | number })[] = await db.all(
        sql`${all} WHERE id > ${after} AND (${join(isSet, ' OR ')}) ORDER BY id LIMIT ${literal(BATCH)}`,
      )
      for (const row of rows)
        for (const column of columns) if (!isJson(row[column])) broken.push(`${table}.${column} ${row.id}`)
      after = rows.at(-1)?.id ?? after
      count = rows.length
    }
  }
  return broken
}
