import { createLoader, type Find } from '../../core/scheduling/loader.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { among, type Micros, recallOrGet, type Sql, sql } from '../../storage/sql.ts'
import type { UserRow } from '../users/store.ts'
import type { OwnUser } from '../users/store-own.ts'
import type { Session } from './schema.ts'

/** A session as it is stored: only digests of its tokens. */
export interface SessionRow {
  id: string
  user_id: string
  token_hash: string
  csrf_hash: string
  issued_at: Micros
  /** When its user last authenticated. */
  confirmed_at: Micros
  last_seen_at: Micros
  idle_expires_at: Micros
  absolute_expires_at: Micros
  user_agent: string | null
  ip: string | null
}

/** The columns of a session for its user. */
export type SessionTimes = Pick<SessionRow, 'id' | 'issued_at' | 'idle_expires_at' | 'absolute_expires_at'>

/** A row as its user reads it. */
export function toSession(row: SessionTimes): Session {
  return {
    id: row.id,
    issued_at: toInstant(row.issued_at),
    expires_at: toInstant(Math.min(row.idle_expires_at, row.absolute_expires_at)),
    absolute_expires_at: toInstant(row.absolute_expires_at),
  }
}

/** What every signed-in call needs: columns of a session and its user, and the version of the limits. */
export type SessionOfCall = Omit<SessionRow, 'issued_at' | 'confirmed_at' | 'user_agent' | 'ip'> &
  Pick<UserRow, 'roles' | 'kind' | 'disabled_at'> & { limits_version: string | null }

const sessionOfCall = (
  limitsVersion: Sql,
) => sql`SELECT s.id, s.user_id, s.token_hash, s.csrf_hash, s.last_seen_at, s.idle_expires_at,
       s.absolute_expires_at, u.roles, u.kind, u.disabled_at, ${limitsVersion} AS limits_version
  FROM sessions s JOIN users u ON u.id = s.user_id`

/** The sessions of these tokens, by their digests, including expired ones. By token_hash. */
export type ListSessionsOfCalls = (db: Queries, hashes: readonly string[]) => Promise<SessionOfCall[]>

/** @param limitsVersion the expression for the version of the limits */
export function createSessionList(limitsVersion: Sql): ListSessionsOfCalls {
  const select = sessionOfCall(limitsVersion)
  // Taking a list apart costs the server as much as the look-up.
  return (db, hashes) =>
    hashes.length === 1
      ? db.all<SessionOfCall>(sql`${select} WHERE s.token_hash = ${hashes[0]!}`)
      : db.all<SessionOfCall>(sql`${select} WHERE s.token_hash ${among(db, hashes)}`)
}

/**
 * Makes the function that finds the session of a token by its digest, including expired ones. Every signed-in
 * call needs it: on PostgreSQL those of one turn of the event loop share a statement, on SQLite those between two commits.
 *
 * @param limitsVersion the expression for the version of the limits
 */
export function createSessionLookup(db: Queries, limitsVersion: Sql): Find<SessionOfCall> {
  if (db.dialect === 'sqlite') {
    const select = sessionOfCall(limitsVersion)
    return (hash) => recallOrGet<SessionOfCall>(db, sql`${select} WHERE s.token_hash = ${hash}`)
  }
  const list = createSessionList(limitsVersion)
  return createLoader(async (hashes) => new Map((await list(db, hashes)).map((row) => [row.token_hash, row])))
}

/** What must be as it was of a remembered session, in one row with the id of its user. */
export type SessionToConfirm = Pick<SessionOfCall, 'token_hash' | 'user_id' | 'roles' | 'limits_version'> & {
  session_id: string
  now: Micros
}

/**
 * Whether the session of a row, which has the columns of {@link SessionToConfirm}, is as it was: not ended, and with the same
 * roles and limits. By token_hash.
 *
 * @param limitsVersion the expression for the version of the limits
 */
export const isConfirmed = (row: Sql, limitsVersion: Sql): Sql => sql`EXISTS (
    SELECT 1 FROM sessions s JOIN users u ON u.id = s.user_id
     WHERE s.token_hash = ${row}.token_hash AND s.id = ${row}.session_id AND s.user_id = ${row}.user_id
       AND s.idle_expires_at >= ${row}.now AND s.absolute_expires_at >= ${row}.now
       AND u.disabled_at IS NULL AND u.roles = ${row}.roles
       AND ${limitsVersion} IS NOT DISTINCT FROM ${row}.limits_version)`

/** A session with its user. By primary key, in one query: each query costs SQLite a lock of the file. */
export async function findSession(
  db: Queries,
  id: string,
): Promise<{ session: SessionTimes; user: OwnUser } | undefined> {
  const row = await recallOrGet<SessionTimes & OwnUser & { user_id: string }>(
    db,
    sql`SELECT s.id, s.issued_at, s.idle_expires_at, s.absolute_expires_at,
            u.id AS user_id, u.email, u.email_verified_at, u.username, u.display_name, u.avatar_url,
            u.roles, u.kind, u.receipts
       FROM sessions s JOIN users u ON u.id = s.user_id
      WHERE s.id = ${id}`,
  )
  if (!row) return undefined
  const { user_id, email, email_verified_at, username, display_name, avatar_url, roles, kind, receipts } = row
  const user = { id: user_id, email, email_verified_at, username, display_name, avatar_url, roles, kind, receipts }
  return { session: row, user }
}

export async function insertSession(tx: Queries, row: SessionRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO sessions (id, user_id, token_hash, csrf_hash, issued_at, confirmed_at, last_seen_at,
          idle_expires_at, absolute_expires_at, user_agent, ip)
     VALUES (${row.id}, ${row.user_id}, ${row.token_hash}, ${row.csrf_hash}, ${row.issued_at}, ${row.confirmed_at},
             ${row.last_seen_at}, ${row.idle_expires_at}, ${row.absolute_expires_at}, ${row.user_agent}, ${row.ip})`,
  )
}

/** Gives a session new tokens, if it still has the old one. @returns whether it had */
export async function rotateSession(
  tx: Queries,
  row: Omit<SessionRow, 'user_id' | 'confirmed_at'>,
  oldTokenHash: string,
): Promise<boolean> {
  const rotated = await tx.run(
    sql`UPDATE sessions SET token_hash = ${row.token_hash}, csrf_hash = ${row.csrf_hash},
          last_seen_at = ${row.last_seen_at}, idle_expires_at = ${row.idle_expires_at},
            user_agent = COALESCE(${row.user_agent}, user_agent), ip = COALESCE(${row.ip}, ip)
      WHERE id = ${row.id} AND token_hash = ${oldTokenHash}`,
  )
  return rotated === 1
}

/** When the user of a session last authenticated; `undefined` once the session has ended. By primary key. */
export async function findConfirmation(db: Queries, id: string): Promise<Micros | undefined> {
  return (await db.get<{ confirmed_at: Micros }>(sql`SELECT confirmed_at FROM sessions WHERE id = ${id}`))?.confirmed_at
}

/** Stores that the user of a session has just authenticated. @returns the number of sessions changed, 0 or 1 */
export function confirmSession(tx: Queries, id: string, at: Micros): Promise<number> {
  return tx.run(sql`UPDATE sessions SET confirmed_at = ${at} WHERE id = ${id}`)
}

/** Marks a session as expired, whatever the clock shows later. @returns the number marked, 0 or 1 */
export function expireSession(tx: Queries, id: string): Promise<number> {
  return tx.run(sql`UPDATE sessions SET idle_expires_at = 0 WHERE id = ${id} AND idle_expires_at > 0`)
}

/** The last use of a session. */
export type SessionUse = Pick<SessionRow, 'last_seen_at' | 'idle_expires_at' | 'user_agent' | 'ip'>

/** Stores the use of a session. The address stays if it is unknown, as for calls within the process. */
export async function touchSession(tx: Queries, id: string, use: SessionUse): Promise<void> {
  await tx.run(
    sql`UPDATE sessions SET last_seen_at = ${use.last_seen_at}, idle_expires_at = ${use.idle_expires_at},
          user_agent = COALESCE(${use.user_agent}, user_agent), ip = COALESCE(${use.ip}, ip)
      WHERE id = ${id}`,
  )
}

export function deleteSessionByToken(
  tx: Queries,
  tokenHash: string,
): Promise<Pick<SessionRow, 'id' | 'user_id' | 'idle_expires_at' | 'absolute_expires_at'> | undefined> {
  return tx.get(
    sql`DELETE FROM sessions WHERE token_hash = ${tokenHash} RETURNING id, user_id, idle_expires_at,
          absolute_expires_at`,
  )
}

/** Ends the user's live sessions except `current` and the newest others, `keep` in all. @returns the number deleted */
export function evictSessions(
  tx: Queries,
  userId: string,
  now: Micros,
  current: string,
  keep: number,
): Promise<number> {
  const others = sql`user_id = ${userId} AND id <> ${current} AND idle_expires_at >= ${now}
         AND absolute_expires_at >= ${now}`
  return tx.run(
    sql`DELETE FROM sessions WHERE ${others} AND id NOT IN
       (SELECT id FROM sessions WHERE ${others} ORDER BY issued_at DESC, id DESC LIMIT ${keep - 1})`,
  )
}
