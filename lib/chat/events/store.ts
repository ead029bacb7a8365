import type { Queries } from '../../storage/database.ts'
import { among, sql } from '../../storage/sql.ts'

/** The users among these that are neither erased nor being erased. By primary keys. */
export function listNotErased(db: Queries, ids: Iterable<string>): Promise<{ id: string }[]> {
  return db.all(
    sql`SELECT id FROM users
      WHERE id ${among(db, ids)} AND NOT EXISTS (SELECT 1 FROM erased_authors gone WHERE gone.user_id = users.id)`,
  )
}
