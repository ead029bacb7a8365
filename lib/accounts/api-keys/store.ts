import type { Cutoff } from '../../core/clock.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { keyLives } from '../../storage/live-keys.ts'
import { among, isAbandoned, type Micros, recallOrGet, sql, where } from '../../storage/sql.ts'
import type { UserKind } from '../users/rules.ts'
import type { ApiKey } from './schema.ts'
import type { KeyOfUser } from './schema-admin.ts'

/** An API key as it is stored: only a digest of the key itself. */
export interface KeyRow {
  id: string
  user_id: string
  name: string
  key_hash: string
  created_at: Micros
  expires_at: Micros | null
  last_used_at: Micros | null
}

/** A row as its user reads it. */
export function toKey(row: Omit<KeyRow, 'key_hash'>): ApiKey {
  return {
    id: row.id,
    name: row.name,
    created_at: toInstant(row.created_at),
    ...(row.expires_at !== null && { expires_at: toInstant(row.expires_at) }),
    ...(row.last_used_at !== null && { last_used_at: toInstant(row.last_used_at) }),
  }
}

/** A row as an administrator reads it. */
export function toKeyOfUser(row: Omit<KeyRow, 'key_hash'>): KeyOfUser {
  return { ...toKey(row), user_id: row.user_id }
}

/** The columns of a key and its user that every call needs. */
type KeyOfCall = Pick<KeyRow, 'id' | 'user_id' | 'expires_at' | 'last_used_at'> & {
  roles: string
  kind: UserKind
  disabled_at: Micros | null
  /** 1 for a bot without an owner whose account is active. */
  is_abandoned: number
}

/** The key with this digest, including expired ones. By key_hash. */
export function findKeyByHash(db: Queries, keyHash: string): Promise<KeyOfCall | undefined> {
  return recallOrGet<KeyOfCall>(
    db,
    sql`SELECT k.id, k.user_id, k.expires_at, k.last_used_at, u.roles, u.kind, u.disabled_at,
            ${isAbandoned(sql`u`)} AS is_abandoned
       FROM api_keys k JOIN users u ON u.id = k.user_id
      WHERE k.key_hash = ${keyHash} AND k.grant_id IS NULL`,
  )
}

/** The API keys and server keys of these that have not expired, with their expiry, and which they are. By primary keys. */
export function listLiveKeys(
  db: Queries,
  ids: readonly string[],
  now: Micros,
): Promise<{ id: string; expires_at: Micros | null; is_server: number }[]> {
  return db.all(
    sql`SELECT k.id, k.expires_at, 0 AS is_server FROM api_keys k WHERE k.id ${among(db, ids)} AND ${keyLives(now)}
     UNION ALL SELECT k.id, k.expires_at, 1 AS is_server FROM server_keys k WHERE k.id ${among(db, ids)} AND ${keyLives(now)}`,
  )
}

/** A user's keys, newest first. By user_id. */
export function listKeys(db: Queries, userId: string): Promise<KeyRow[]> {
  return db.all<KeyRow>(
    sql`SELECT id, user_id, name, key_hash, created_at, expires_at, last_used_at FROM api_keys
      WHERE user_id = ${userId} AND grant_id IS NULL
      ORDER BY created_at DESC, id DESC`,
  )
}

/** Up to `limit` keys of all users or of one, newest first, after the given one. By primary key; those of one by user_id. */
export function listKeysOfUsers(
  db: Queries,
  { user_id, after }: { user_id?: string | undefined; after?: string | undefined },
  limit: number,
): Promise<Omit<KeyRow, 'key_hash'>[]> {
  return db.all(
    sql`SELECT id, user_id, name, created_at, expires_at, last_used_at FROM api_keys
      ${where(sql`grant_id IS NULL`, after !== undefined && sql`id < ${after}`, user_id !== undefined && sql`user_id = ${user_id}`)}
      ORDER BY id DESC
      LIMIT ${limit}`,
  )
}

/** The number of a user's keys. By user_id. */
export async function countKeys(db: Queries, userId: string): Promise<number> {
  const row = await db.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM api_keys WHERE user_id = ${userId} AND grant_id IS NULL`,
  )
  return row!.count
}

export async function insertKey(tx: Queries, row: Omit<KeyRow, 'last_used_at'>): Promise<void> {
  await tx.run(
    sql`INSERT INTO api_keys (id, user_id, name, key_hash, created_at, expires_at)
          VALUES (${row.id}, ${row.user_id}, ${row.name}, ${row.key_hash}, ${row.created_at}, ${row.expires_at})`,
  )
}

export async function touchKey(tx: Queries, id: string, usedAt: Micros): Promise<void> {
  await tx.run(sql`UPDATE api_keys SET last_used_at = ${usedAt} WHERE id = ${id}`)
}

/**
 * By primary key.
 *
 * @param userId whose key it must be. Default: any user's
 * @returns the deleted key, if there was one
 */
export function deleteKey(tx: Queries, id: string, userId?: string): Promise<Named | undefined> {
  return userId === undefined
    ? tx.get<Named>(sql`DELETE FROM api_keys WHERE id = ${id} AND grant_id IS NULL RETURNING user_id, name`)
    : tx.get<Named>(
        sql`DELETE FROM api_keys WHERE id = ${id} AND user_id = ${userId} AND grant_id IS NULL RETURNING user_id, name`,
      )
}

type Named = Pick<KeyRow, 'user_id' | 'name'>

/** Deletes up to `limit` keys that expired before `before`. @returns the number of keys deleted */
export function deleteExpiredKeys(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM api_keys WHERE id IN (SELECT id FROM api_keys WHERE expires_at < ${before} LIMIT ${limit})`,
  )
}
