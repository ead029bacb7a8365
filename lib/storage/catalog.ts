import type { Queries } from './database.ts'
import { sql } from './sql.ts'

/** Whether the database has this table of the service. */
export async function hasTable(db: Queries, table: string): Promise<boolean> {
  const { names } = db
  const query =
    db.dialect === 'sqlite'
      ? sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name = ${names?.inCatalog(table) ?? table}`
      : sql`SELECT to_regclass(${names?.inStatement(table) ?? table})::text AS name`
  return Boolean((await db.get<{ name: string | null }>(query))?.name)
}
