import type { Cutoff } from '../../core/clock.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { type Micros, recallOrGet, type Sql, sql, where } from '../../storage/sql.ts'
import type { UserKind } from '../users/rules.ts'
import { endOf, MAX_TOKENS, type StoredRefresh, toScopes } from './rules.ts'
import type { Grant } from './schema.ts'

/** What a user allows an application, as it is stored: only digests of codes and tokens. */
export interface GrantRow {
  id: string
  user_id: string
  client_id: string
  client_name: string
  client_host: string
  /** Separated by spaces. */
  scopes: string
  created_at: Micros
  last_used_at: Micros
  code_hash: string
  /** `null` once the code is used. */
  code_expires_at: Micros | null
  redirect_uri: string
  code_challenge: string
  /** `null` until the code is used. */
  family_hash: string | null
  /** JSON. */
  refresh_tokens: string
}

/** What of a grant is shown. */
export type ShownGrant = Pick<
  GrantRow,
  'id' | 'user_id' | 'client_id' | 'client_name' | 'client_host' | 'scopes' | 'created_at' | 'last_used_at'
>

/** A row as its user reads it. */
export function toGrant(row: ShownGrant, lives: Parameters<typeof endOf>[1]): Grant {
  return {
    id: row.id,
    client_id: row.client_id,
    client_name: row.client_name,
    client_host: row.client_host,
    scopes: toScopes(row.scopes),
    created_at: toInstant(row.created_at),
    ...(row.last_used_at > row.created_at && { last_used_at: toInstant(row.last_used_at) }),
    expires_at: toInstant(endOf(row, lives)),
  }
}

const SHOWN = sql`id, user_id, client_id, client_name, client_host, scopes, created_at, last_used_at`

/** A user's grants whose code was used, newest first. By grants_of_user. */
export function listGrants(db: Queries, userId: string): Promise<ShownGrant[]> {
  return db.all(
    sql`SELECT ${SHOWN} FROM grants
      WHERE user_id = ${userId} AND family_hash IS NOT NULL
      ORDER BY created_at DESC, id DESC`,
  )
}

/** Up to `limit` grants of all users or of one, newest first, after the given one. By primary key; those of one by grants_of_user. */
export function listGrantsOfUsers(
  db: Queries,
  { user_id, after }: { user_id?: string | undefined; after?: string | undefined },
  limit: number,
): Promise<ShownGrant[]> {
  const conditions = where(
    sql`family_hash IS NOT NULL`,
    after !== undefined && sql`id < ${after}`,
    user_id !== undefined && sql`user_id = ${user_id}`,
  )
  return db.all(sql`SELECT ${SHOWN} FROM grants ${conditions} ORDER BY id DESC LIMIT ${limit}`)
}

/** How a client proves that it has a grant: by the digest of its code, or of what its refresh tokens have in common. */
export type Proof = { code_hash: string } | { family_hash: string }

const provedBy = (proof: Proof): Sql =>
  'code_hash' in proof ? sql`code_hash = ${proof.code_hash}` : sql`family_hash = ${proof.family_hash}`

/** By unique indexes. */
export function findGrant(db: Queries, proof: Proof): Promise<GrantRow | undefined> {
  return db.get<GrantRow>(sql`SELECT * FROM grants WHERE ${provedBy(proof)}`)
}

export async function insertGrant(tx: Queries, row: GrantRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO grants (id, user_id, client_id, client_name, client_host, scopes, created_at, last_used_at, code_hash,
                            code_expires_at, redirect_uri, code_challenge, family_hash, refresh_tokens)
          VALUES (${row.id}, ${row.user_id}, ${row.client_id}, ${row.client_name}, ${row.client_host}, ${row.scopes},
                  ${row.created_at}, ${row.last_used_at}, ${row.code_hash}, ${row.code_expires_at}, ${row.redirect_uri},
                  ${row.code_challenge}, ${row.family_hash}, ${row.refresh_tokens})`,
  )
}

/**
 * The grants of a user that go when there is another: those beyond `kept`, first the ones whose code was not used yet, then the least
 * used. By grants_of_user.
 */
export function listLeastUsed(tx: Queries, userId: string, kept: number): Promise<Pick<GrantRow, 'id'>[]> {
  return tx.all(
    sql`SELECT id FROM grants WHERE user_id = ${userId}
      ORDER BY CASE WHEN family_hash IS NULL THEN 1 ELSE 0 END, last_used_at DESC, id DESC
      LIMIT 1000 OFFSET ${kept}`,
  )
}

/** Stores that a grant was used for tokens, and its refresh tokens from now on. */
export async function storeRefresh(
  tx: Queries,
  { id, family_hash, tokens, now }: { id: string; family_hash: string; tokens: readonly StoredRefresh[]; now: Micros },
): Promise<void> {
  await tx.run(
    sql`UPDATE grants SET code_expires_at = NULL, family_hash = ${family_hash}, refresh_tokens = ${JSON.stringify(tokens)},
            last_used_at = ${now}
      WHERE id = ${id}`,
  )
}

/**
 * By primary key. Its tokens end with it.
 *
 * @param userId whose grant it must be. Default: any user's
 * @returns the deleted grant, if there was one
 */
export function deleteGrant(tx: Queries, id: string, userId?: string): Promise<EndedGrant | undefined> {
  const whose = userId === undefined ? sql`` : sql`AND user_id = ${userId}`
  return tx.get<EndedGrant>(
    sql`DELETE FROM grants WHERE id = ${id} ${whose} RETURNING id, user_id, client_name, client_host`,
  )
}

/** What is said of a grant that has ended. */
export type EndedGrant = Pick<GrantRow, 'id' | 'user_id' | 'client_name' | 'client_host'>

/** An access token as it is stored: a key with a grant. */
export interface AccessRow {
  id: string
  user_id: string
  name: string
  key_hash: string
  created_at: Micros
  expires_at: Micros
  grant_id: string
  audience: string
  scopes: string
}

/** Adds an access token, and deletes the oldest of too many. By api_keys_of_grant. @returns how many it has deleted */
export async function insertAccess(tx: Queries, row: AccessRow): Promise<number> {
  const dropped = await tx.run(
    sql`DELETE FROM api_keys
      WHERE grant_id = ${row.grant_id}
            AND id IN (SELECT k.id FROM api_keys k WHERE k.grant_id = ${row.grant_id}
                        ORDER BY k.created_at DESC, k.id DESC
                        LIMIT 1000 OFFSET ${MAX_TOKENS - 1})`,
  )
  await tx.run(
    sql`INSERT INTO api_keys (id, user_id, name, key_hash, created_at, expires_at, grant_id, audience, scopes)
          VALUES (${row.id}, ${row.user_id}, ${row.name}, ${row.key_hash}, ${row.created_at}, ${row.expires_at},
                  ${row.grant_id}, ${row.audience}, ${row.scopes})`,
  )
  return dropped
}

/** The columns of an access token and its user that every call needs. */
interface AccessOfCall {
  id: string
  grant_id: string
  user_id: string
  audience: string
  scopes: string
  expires_at: Micros
  last_used_at: Micros | null
  roles: string
  kind: UserKind
  disabled_at: Micros | null
}

/** The access token with this digest, including expired ones. By key_hash. */
export function findAccess(db: Queries, keyHash: string): Promise<AccessOfCall | undefined> {
  return recallOrGet<AccessOfCall>(
    db,
    sql`SELECT k.id, k.grant_id, k.user_id, k.audience, k.scopes, k.expires_at, k.last_used_at, u.roles, u.kind, u.disabled_at
       FROM api_keys k JOIN users u ON u.id = k.user_id
      WHERE k.key_hash = ${keyHash} AND k.grant_id IS NOT NULL`,
  )
}

/** The grant of an access token. By key_hash. */
export function findGrantOfAccess(
  db: Queries,
  keyHash: string,
): Promise<Pick<GrantRow, 'id' | 'client_id'> | undefined> {
  return db.get(
    sql`SELECT g.id, g.client_id FROM api_keys k JOIN grants g ON g.id = k.grant_id WHERE k.key_hash = ${keyHash}`,
  )
}

/** By key_hash. @returns whose it was, if there was one */
export function deleteAccess(tx: Queries, keyHash: string): Promise<{ user_id: string } | undefined> {
  return tx.get(sql`DELETE FROM api_keys WHERE key_hash = ${keyHash} AND grant_id IS NOT NULL RETURNING user_id`)
}

/** Stores that an access token, and so its grant, is in use. By primary keys. */
export async function touchAccess(
  tx: Queries,
  { id, grant_id }: Pick<AccessOfCall, 'id' | 'grant_id'>,
  usedAt: Micros,
): Promise<void> {
  await tx.run(sql`UPDATE api_keys SET last_used_at = ${usedAt} WHERE id = ${id}`)
  await tx.run(sql`UPDATE grants SET last_used_at = ${usedAt} WHERE id = ${grant_id} AND last_used_at < ${usedAt}`)
}

/** Deletes up to `limit` grants that were not used since. By grants_by_use. @returns their number */
export function deleteUnusedGrants(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM grants WHERE id IN (SELECT id FROM grants WHERE last_used_at < ${before} LIMIT ${limit})`,
  )
}

/** Deletes up to `limit` grants that were made before. By grants_by_age. @returns their number */
export function deleteOldGrants(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(sql`DELETE FROM grants WHERE id IN (SELECT id FROM grants WHERE created_at < ${before} LIMIT ${limit})`)
}

/** Deletes up to `limit` grants whose code has expired unused. By grants_by_code. @returns their number */
export function deleteUnusedCodes(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM grants WHERE id IN (SELECT id FROM grants WHERE code_expires_at < ${before} LIMIT ${limit})`,
  )
}
