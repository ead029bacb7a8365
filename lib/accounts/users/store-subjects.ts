import type { Queries } from '../../storage/database.ts'
import { among, IS_OF_HOST, sql } from '../../storage/sql.ts'

/** The host's own ids of these users, by user id; users without one are missing. By user_id. */
export async function findSubjects(db: Queries, userIds: readonly string[]): Promise<Map<string, string>> {
  if (userIds.length === 0) return new Map()
  const rows = await db.all<{ user_id: string; subject: string }>(
    sql`SELECT i.user_id, min(i.subject) AS subject FROM identities i
      WHERE i.user_id ${among(db, userIds)} AND ${IS_OF_HOST} GROUP BY i.user_id`,
  )
  return new Map(rows.map(({ user_id, subject }) => [user_id, subject]))
}
