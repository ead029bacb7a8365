import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'

/** The roles that participants have, each once, by name. It reads all participations. */
export async function listParticipantRoles(db: Queries): Promise<string[]> {
  const rows = await db.all<{ role: string }>(sql`SELECT DISTINCT role FROM participants`)
  return rows.map(({ role }) => role).sort()
}
