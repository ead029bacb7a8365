import type { Queries } from './database.ts'
import { sql } from './sql.ts'

/** The size of a database on its disk, in bytes, without a WAL. */
export async function measureBytes(db: Queries): Promise<number> {
  const query =
    db.dialect === 'sqlite'
      ? sql`SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size`
      : sql`SELECT pg_database_size(current_database()) AS bytes`
  return (await db.get<{ bytes: number }>(query))!.bytes
}
