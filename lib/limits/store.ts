import { toInstant } from '../core/time.ts'
import type { Queries } from '../storage/database.ts'
import { among, type Micros, name, sql } from '../storage/sql.ts'
import type { Rate } from './rules.ts'
import type { LimitAssignment, LimitProfile } from './schema.ts'

/** A profile as it is stored. */
export interface ProfileRow extends Rate {
  id: string
  name: string
  description: string | null
  created_at: Micros
  updated_at: Micros
}

/** An assignment as it is stored, with the name of its profile. */
export interface AssignmentRow {
  id: string
  profile_id: string
  profile_name: string
  method: string
  path_pattern: string
  created_at: Micros
  updated_at: Micros
}

/** An assignment as requests need it. */
export interface LimitRule extends Rate {
  id: string
  method: string
  path_pattern: string
  profile: string
}

const PROFILE = sql`id, name, requests_per_second, burst, description, created_at, updated_at`

/** A row as an administrator reads it. */
export function toProfile(row: ProfileRow): LimitProfile {
  const { id, name, requests_per_second, burst, description } = row
  return {
    id,
    name,
    algorithm: 'gcra',
    params: { requests_per_second, burst },
    ...(description && { description }),
    created_at: toInstant(row.created_at),
    updated_at: toInstant(row.updated_at),
  }
}

/** A row as an administrator reads it. */
export function toAssignment(row: AssignmentRow): LimitAssignment {
  return { ...row, created_at: toInstant(row.created_at), updated_at: toInstant(row.updated_at) }
}

/** Up to `limit` profiles after the key of a name, by name. By name_key. */
export function listProfiles(db: Queries, after: string, limit: number): Promise<ProfileRow[]> {
  return db.all<ProfileRow>(
    sql`SELECT ${PROFILE} FROM limit_profiles WHERE name_key > ${after} ORDER BY name_key LIMIT ${limit}`,
  )
}

/** Any number: the holder of this lock adds profiles and assignments. */
const ADDING_LOCK = 7_201_996

/** The number of profiles or assignments; until the transaction ends no other call adds one. */
export async function lockAndCount(tx: Queries, what: 'profiles' | 'assignments'): Promise<number> {
  if (tx.dialect === 'postgresql') await tx.get(sql`SELECT pg_advisory_xact_lock(${ADDING_LOCK})`)
  return (await tx.get<{ count: number }>(sql`SELECT count(*) AS count FROM ${name(`limit_${what}`)}`))!.count
}

/** Locks a profile: until the transaction ends no other call changes, deletes or assigns it. */
export function lockProfile(tx: Queries, id: string): Promise<ProfileRow | undefined> {
  return tx.get<ProfileRow>(
    sql`SELECT ${PROFILE} FROM limit_profiles
          WHERE id = ${id}${tx.dialect === 'postgresql' ? sql` FOR UPDATE` : sql``}`,
  )
}

/** @returns whether the name was free */
export async function insertProfile(tx: Queries, row: ProfileRow, nameKey: string): Promise<boolean> {
  const inserted = await tx.run(
    sql`INSERT INTO limit_profiles (id, name, name_key, requests_per_second, burst, description, created_at, updated_at)
     VALUES (${row.id}, ${row.name}, ${nameKey}, ${row.requests_per_second}, ${row.burst}, ${row.description},
             ${row.created_at}, ${row.updated_at})
     ON CONFLICT (name_key) DO NOTHING`,
  )
  return inserted === 1
}

export async function updateProfile(tx: Queries, row: ProfileRow): Promise<void> {
  await tx.run(
    sql`UPDATE limit_profiles SET requests_per_second = ${row.requests_per_second}, burst = ${row.burst},
          description = ${row.description}, updated_at = ${row.updated_at} WHERE id = ${row.id}`,
  )
}

/** @returns whether it was deleted; an assigned profile is not */
export async function deleteProfile(tx: Queries, id: string): Promise<boolean> {
  const deleted = await tx.run(
    sql`DELETE FROM limit_profiles WHERE id = ${id} AND NOT EXISTS (SELECT 1 FROM limit_assignments
          WHERE profile_id = ${id})`,
  )
  return deleted === 1
}

/** Every assignment, by path and method. */
export function listAssignments(db: Queries): Promise<AssignmentRow[]> {
  return db.all<AssignmentRow>(
    sql`SELECT a.id, a.profile_id, p.name AS profile_name, a.method, a.path_pattern, a.created_at, a.updated_at
       FROM limit_assignments a JOIN limit_profiles p ON p.id = a.profile_id
      ORDER BY a.path_pattern, a.method`,
  )
}

/** @returns whether it was added; a method and path has one assignment */
export async function insertAssignment(tx: Queries, row: Omit<AssignmentRow, 'profile_name'>): Promise<boolean> {
  const inserted = await tx.run(
    sql`INSERT INTO limit_assignments (id, profile_id, method, path_pattern, created_at, updated_at)
     VALUES (${row.id}, ${row.profile_id}, ${row.method}, ${row.path_pattern}, ${row.created_at}, ${row.updated_at})
     ON CONFLICT (method, path_pattern) DO NOTHING`,
  )
  return inserted === 1
}

/** @returns the deleted assignment, or `undefined` if it did not exist */
export function deleteAssignment(
  tx: Queries,
  id: string,
): Promise<{ method: string; path_pattern: string } | undefined> {
  return tx.get(sql`DELETE FROM limit_assignments WHERE id = ${id} RETURNING method, path_pattern`)
}

/** All assignments, as requests need them. */
export function listLimitRules(db: Queries): Promise<LimitRule[]> {
  return db.all<LimitRule>(
    sql`SELECT a.id, a.method, a.path_pattern, p.name AS profile, p.requests_per_second, p.burst
       FROM limit_assignments a JOIN limit_profiles p ON p.id = a.profile_id`,
  )
}

/** A token that changes with each change of profiles and assignments; null before the first one. */
export type LimitsVersion = string | null

/** The {@link LimitsVersion} as an expression. By primary key: every request reads it. */
export const LIMITS_VERSION = sql`(SELECT value FROM meta WHERE name = 'limits_version')`

export async function findLimitsVersion(db: Queries): Promise<LimitsVersion> {
  return (await db.get<{ version: LimitsVersion }>(sql`SELECT ${LIMITS_VERSION} AS version`))!.version
}

export async function setLimitsVersion(tx: Queries, version: string): Promise<void> {
  await tx.run(
    sql`INSERT INTO meta (name, value) VALUES ('limits_version', ${version})
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  )
}

/** A bucket of a caller. */
export interface BucketRow {
  bucket: string
  /** The instant that `spend` compares. */
  tat: Micros
}

/** Up to `limit` buckets with something in them, the fullest first. By limit_buckets_by_tat. */
export function listFullBuckets(db: Queries, now: Micros, limit: number): Promise<BucketRow[]> {
  return db.all<BucketRow>(sql`SELECT bucket, tat FROM limit_buckets WHERE tat > ${now} ORDER BY tat DESC
         LIMIT ${limit}`)
}

/** The buckets among these that exist. By primary key. */
export function findBuckets(db: Queries, buckets: string[]): Promise<BucketRow[]> {
  return db.all<BucketRow>(sql`SELECT bucket, tat FROM limit_buckets WHERE bucket ${among(db, buckets)}`)
}

/** @returns the number of buckets deleted */
export function deleteBuckets(tx: Queries, buckets: string[]): Promise<number> {
  return tx.run(sql`DELETE FROM limit_buckets WHERE bucket ${among(tx, buckets)}`)
}
