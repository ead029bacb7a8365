import type { Queries } from './database.ts'

/** Whether the database has this table of the service. */
export async function hasTable(db: Queries, table: string): Promise<boolean> {
  const { names } = db
  const row =
    db.dialect === 'sqlite'
      ? await db.get<{ name: string | null }>(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?",
          names?.inCatalog(table) ?? table,
        )
      : await db.get<{ name: string | null }>('SELECT to_regclass(?)::text AS name', names?.inStatement(table) ?? table)
  return Boolean(row?.name)
}
