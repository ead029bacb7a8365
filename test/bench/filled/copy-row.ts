import type { Database } from '../../../lib/storage/database.ts'
import { literal, type Sql, sql, statement } from '../../../lib/storage/sql.ts'

/** What is stored: as many copies of the one row of a table. */
interface Copies {
  table: string
  where: Sql
  count: number
  /** The columns that differ, as SQL of the number `n` of the copy. */
  values: Record<string, string>
}

/** Stores copies of a row, in one statement: by the service, a hundred thousand would take longer than what is measured. */
export async function copyRow(
  db: Pick<Database, 'get' | 'write'>,
  { table, where, count, values }: Copies,
): Promise<void> {
  const from = statement(table)
  const row = await db.get<Record<string, unknown>>(sql`SELECT * FROM ${from} WHERE ${where}`)
  const columns = Object.keys(row!)
  const chosen = columns.map((column) => values[column] ?? `source.${column}`)
  await db.write(
    (tx) =>
      tx.run(
        sql`INSERT INTO ${from} (${statement(columns.join(', '))})
            WITH RECURSIVE counted(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n < ${literal(count - 1)})
            SELECT ${statement(chosen.join(', '))}
              FROM counted CROSS JOIN (SELECT * FROM ${from} WHERE ${where}) source`,
      ),
    { timeout: false },
  )
}
