import type { Cutoff } from '../../core/clock.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { keyLives } from '../../storage/live-keys.ts'
import { type Micros, recallOrGet, sql } from '../../storage/sql.ts'
import type { ServerKey, ServerKeyScope } from './schema.ts'

/** A server key as it is stored: only a digest of the key itself. */
export interface ServerKeyRow {
  id: string
  name: string
  scopes: string
  key_hash: string
  created_at: Micros
  expires_at: Micros | null
  last_used_at: Micros | null
}

/** A row as the operator reads it. */
export function toServerKey(row: Omit<ServerKeyRow, 'key_hash'>): ServerKey {
  return {
    id: row.id,
    name: row.name,
    scopes: splitScopes(row),
    created_at: toInstant(row.created_at),
    ...(row.expires_at !== null && { expires_at: toInstant(row.expires_at) }),
    ...(row.last_used_at !== null && { last_used_at: toInstant(row.last_used_at) }),
  }
}

/** The stored scopes as a list. */
export function splitScopes({ scopes }: Pick<ServerKeyRow, 'scopes'>): ServerKeyScope[] {
  return scopes.split(',') as ServerKeyScope[]
}

/** The columns that every call needs. */
type KeyOfCall = Pick<ServerKeyRow, 'id' | 'scopes' | 'expires_at' | 'last_used_at'>

/** The key with this digest, including expired ones. By key_hash. */
export function findServerKeyByHash(db: Queries, keyHash: string): Promise<KeyOfCall | undefined> {
  return recallOrGet<KeyOfCall>(
    db,
    sql`SELECT id, scopes, expires_at, last_used_at FROM server_keys WHERE key_hash = ${keyHash}`,
  )
}

/** All keys, newest first: there are few. */
export function listServerKeys(db: Queries): Promise<Omit<ServerKeyRow, 'key_hash'>[]> {
  return db.all(
    sql`SELECT id, name, scopes, created_at, expires_at, last_used_at FROM server_keys
      ORDER BY created_at DESC, id DESC`,
  )
}

/** Any number: the holder of this lock adds server keys. */
const ADDING_LOCK = 7_201_999

/** The number of keys that have not expired; until the transaction ends no other call adds one. */
export async function lockAndCountServerKeys(tx: Queries, now: Micros): Promise<number> {
  if (tx.dialect === 'postgresql') await tx.get(sql`SELECT pg_advisory_xact_lock(${ADDING_LOCK})`)
  return (await tx.get<{ count: number }>(sql`SELECT count(*) AS count FROM server_keys k WHERE ${keyLives(now)}`))!
    .count
}

export async function insertServerKey(tx: Queries, row: Omit<ServerKeyRow, 'last_used_at'>): Promise<void> {
  await tx.run(
    sql`INSERT INTO server_keys (id, name, scopes, key_hash, created_at, expires_at)
          VALUES (${row.id}, ${row.name}, ${row.scopes}, ${row.key_hash}, ${row.created_at}, ${row.expires_at})`,
  )
}

export async function touchServerKey(tx: Queries, id: string, usedAt: Micros): Promise<void> {
  await tx.run(sql`UPDATE server_keys SET last_used_at = ${usedAt} WHERE id = ${id}`)
}

/** By primary key. @returns the deleted key, if there was one */
export function deleteServerKey(tx: Queries, id: string): Promise<Pick<ServerKeyRow, 'name'> | undefined> {
  return tx.get(sql`DELETE FROM server_keys WHERE id = ${id} RETURNING name`)
}

/** Deletes up to `limit` keys that expired before `before`. @returns the number of keys deleted */
export function deleteExpiredServerKeys(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM server_keys WHERE id IN (SELECT id FROM server_keys WHERE expires_at < ${before} LIMIT ${limit})`,
  )
}
