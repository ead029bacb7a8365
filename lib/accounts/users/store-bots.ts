import type { Queries } from '../../storage/database.ts'
import { among, isAbandoned, type Micros, sql } from '../../storage/sql.ts'
import type { UserRow } from './store.ts'

/** The ids of the bots of a user. By bots_of_owner. */
export async function listBotIds(db: Queries, ownerId: string): Promise<string[]> {
  const rows = await db.all<{ id: string }>(sql`SELECT id FROM users WHERE owner_id = ${ownerId} ORDER BY id`)
  return rows.map(({ id }) => id)
}

/** Whether a user may act: it is neither disabled, nor a bot whose owner has no active account. By primary key. */
export async function isActive(
  db: Queries,
  { id, kind, disabled_at }: Pick<UserRow, 'id' | 'kind' | 'disabled_at'>,
): Promise<boolean> {
  if (disabled_at !== null) return false
  if (kind !== 'bot') return true
  return Boolean(await db.get(sql`SELECT 1 AS found FROM users WHERE id = ${id} AND ${isAbandoned(sql`users`)} = 0`))
}

/** The owner of a user; `undefined` for a user without one. By primary key. */
export async function findOwnerId(db: Queries, id: string): Promise<string | undefined> {
  return (
    (await db.get<{ owner_id: string | null }>(sql`SELECT owner_id FROM users WHERE id = ${id}`))?.owner_id ?? undefined
  )
}

/** The owners of those of these users that have one. By primary key. */
export async function findOwners(db: Queries, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.all<{ id: string; owner_id: string }>(
    sql`SELECT id, owner_id FROM users WHERE id ${among(db, ids)} AND owner_id IS NOT NULL`,
  )
  return new Map(rows.map(({ id, owner_id }) => [id, owner_id]))
}

/** Gives a bot to a user, with its webhooks. */
export async function setOwner(tx: Queries, id: string, ownerId: string, at: Micros): Promise<void> {
  await tx.run(sql`UPDATE users SET owner_id = ${ownerId}, updated_at = ${at} WHERE id = ${id}`)
  await tx.run(sql`UPDATE webhooks SET user_id = ${ownerId} WHERE bot_id = ${id}`)
}

/** Notes that an administrator decides whether a user is disabled, and not the owner any more. */
export async function ruleByAdministrator(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`UPDATE users SET disabled_by_owner = 0 WHERE id = ${id} AND disabled_by_owner = 1`)
}
