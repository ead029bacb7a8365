import { uniqueKey } from '../core/characters.ts'
import type { Cutoff } from '../core/clock.ts'
import type { Queries } from '../storage/database.ts'
import { among, sql } from '../storage/sql.ts'

/** Any number: the holder of this lock adds a guest. */
const ADDING_LOCK = 7_202_000

/** The number of guests; until the transaction ends no other call adds one. By the index of guests. */
export async function lockAndCountGuests(tx: Queries): Promise<number> {
  if (tx.dialect === 'postgresql') await tx.get(sql`SELECT pg_advisory_xact_lock(${ADDING_LOCK})`)
  const row = await tx.get<{ count: number }>(sql`SELECT count(*) AS count FROM users WHERE kind = 'guest'`)
  return row!.count
}

/** The active persons with these usernames, in the order of the names. By username_key. */
export async function listContacts(db: Queries, usernames: readonly string[]): Promise<string[]> {
  const keys = [...new Set(usernames.map(uniqueKey))]
  const ids = await findPersons(db, keys)
  return keys.flatMap((key) => ids.get(key) ?? [])
}

/** The usernames among these that no active person has. */
export async function listUnknownContacts(db: Queries, usernames: readonly string[]): Promise<string[]> {
  const ids = await findPersons(db, usernames.map(uniqueKey))
  return usernames.filter((username) => !ids.has(uniqueKey(username)))
}

/** The ids of active persons, by the keys of their usernames. */
async function findPersons(db: Queries, keys: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.all<{ id: string; username_key: string }>(
    sql`SELECT id, username_key FROM users
      WHERE username_key ${among(db, keys)} AND disabled_at IS NULL AND system_name IS NULL AND kind = 'person'`,
  )
  return new Map(rows.map(({ id, username_key }) => [username_key, id]))
}

/**
 * Up to `limit` guests who came before an instant and were not seen since, by a session or otherwise; without those of a host, which
 * says itself when they end. By the index of guests, then by the indexes of each table on the user.
 */
export async function listUnused(db: Queries, before: Cutoff, limit: number): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    sql`SELECT u.id FROM users u WHERE ${isUnusedSince(before)}
            AND NOT EXISTS (SELECT 1 FROM erased_authors gone WHERE gone.user_id = u.id)
      ORDER BY u.id LIMIT ${limit}`,
  )
  return rows.map(({ id }) => id)
}

/** Whether a user is still one that {@link listUnused} finds. By primary key. */
export async function isUnused(db: Queries, id: string, before: Cutoff): Promise<boolean> {
  return (
    (await db.get(sql`SELECT 1 AS found FROM users u WHERE u.id = ${id} AND ${isUnusedSince(before)}`)) !== undefined
  )
}

const isUnusedSince = (before: Cutoff) => sql`u.kind = 'guest' AND u.created_at < ${before}
            AND (u.used_at IS NULL OR u.used_at < ${before})
            AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.user_id = u.id AND s.last_seen_at >= ${before})
            AND NOT EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id)`
