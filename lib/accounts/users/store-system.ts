import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'
import type { UserRow } from './store.ts'

/** The user of a system actor, by its name. */
export function findSystemUser(db: Queries, name: string) {
  return db.get<Pick<UserRow, 'id' | 'disabled_at'>>(sql`SELECT id, disabled_at FROM users WHERE system_name = ${name}`)
}

/** Makes a user a system actor's. It fails on a name that another user has. */
export async function nameSystemUser(tx: Queries, id: string, name: string): Promise<void> {
  await tx.run(sql`UPDATE users SET system_name = ${name} WHERE id = ${id}`)
}

/** Whether a user is that of a system actor. */
export async function isSystemUser(db: Queries, id: string): Promise<boolean> {
  return Boolean(await db.get(sql`SELECT 1 AS found FROM users WHERE id = ${id} AND system_name IS NOT NULL`))
}
