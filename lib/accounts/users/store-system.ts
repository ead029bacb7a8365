import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'
import type { ShownUser, UserRow } from './store.ts'

/** The user of a system actor. */
export type SystemUser = ShownUser & Pick<UserRow, 'disabled_at'>

/** The user of a system actor, by its name. */
export function findSystemUser(db: Queries, name: string) {
  return db.get<SystemUser>(
    sql`SELECT id, email, email_verified_at, username, display_name, avatar_url, roles, kind, disabled_at
       FROM users WHERE system_name = ${name}`,
  )
}

/** Whether a user is that of a system actor, or the bot of a hook, which has no owner. By primary key. */
export async function isOfService(db: Queries, id: string): Promise<boolean> {
  return Boolean(
    await db.get(
      sql`SELECT 1 AS found FROM users
        WHERE id = ${id} AND (system_name IS NOT NULL OR (kind = 'bot' AND owner_id IS NULL))`,
    ),
  )
}

/** Whether a user is that of a system actor. */
export async function isSystemUser(db: Queries, id: string): Promise<boolean> {
  return Boolean(await db.get(sql`SELECT 1 AS found FROM users WHERE id = ${id} AND system_name IS NOT NULL`))
}

/** The name of a system actor; `undefined` for any other user. By primary key. */
export async function findSystemName(db: Queries, id: string): Promise<string | undefined> {
  const row = await db.get<{ system_name: string | null }>(sql`SELECT system_name FROM users WHERE id = ${id}`)
  return row?.system_name ?? undefined
}
