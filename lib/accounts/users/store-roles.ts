import { splitRoles } from '../../core/actor.ts'
import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'

/** The roles that users have in the service, each once, by name. It reads all users. */
export async function listRolesInUse(db: Queries): Promise<string[]> {
  const rows = await db.all<{ roles: string }>(sql`SELECT DISTINCT roles FROM users`)
  return [...new Set(rows.flatMap(({ roles }) => splitRoles(roles)))].sort()
}
