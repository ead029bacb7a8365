import { toInstant } from '../ids.ts'
import type { Queries } from '../storage/database.ts'
import { jsonList, listOf, type Micros } from '../storage/sql.ts'
import type { ShownUser, UserRow } from '../users/store.ts'
import type { OwnSession, Session } from './schema.ts'

/** A session as it is stored: of its tokens only digests. */
export interface SessionRow {
  id: string
  user_id: string
  token_hash: string
  csrf_hash: string
  issued_at: Micros
  last_seen_at: Micros
  idle_expires_at: Micros
  absolute_expires_at: Micros
  user_agent: string | null
  ip: string | null
}

/** What a session shows of itself. */
export type SessionTimes = Pick<SessionRow, 'id' | 'issued_at' | 'idle_expires_at' | 'absolute_expires_at'>

/** A row as its user sees it. */
export function toSession(row: SessionTimes): Session {
  return {
    id: row.id,
    issued_at: toInstant(row.issued_at),
    expires_at: toInstant(Math.min(row.idle_expires_at, row.absolute_expires_at)),
    absolute_expires_at: toInstant(row.absolute_expires_at),
  }
}

/** What a list of sessions shows of each. */
type ListedSession = Omit<SessionRow, 'token_hash' | 'csrf_hash'>

/** A row of a list as its user sees it. */
export function toOwnSession(row: ListedSession, currentId: string | undefined): OwnSession {
  return {
    ...toSession(row),
    last_seen_at: toInstant(row.last_seen_at),
    ...(row.user_agent !== null && { user_agent: row.user_agent }),
    ...(row.ip !== null && { ip: row.ip }),
    current: row.id === currentId,
  }
}

/** What every signed-in call needs of its session and its user. */
type SessionOfCall = Omit<SessionRow, 'token_hash' | 'issued_at' | 'user_agent' | 'ip'> &
  Pick<UserRow, 'roles' | 'disabled_at'>

/** The session of a token, expired ones too. By token_hash. */
export function findSessionByToken(db: Queries, tokenHash: string): Promise<SessionOfCall | undefined> {
  return db.get<SessionOfCall>(
    `SELECT s.id, s.user_id, s.csrf_hash, s.last_seen_at, s.idle_expires_at, s.absolute_expires_at, u.roles, u.disabled_at
       FROM sessions s JOIN users u ON u.id = s.user_id
      WHERE s.token_hash = ?`,
    tokenHash,
  )
}

/** A session with what its user shows. By primary key, in one look: each costs SQLite a lock of the file. */
export async function findSession(
  db: Queries,
  id: string,
): Promise<{ session: SessionTimes; user: ShownUser } | undefined> {
  const row = await db.get<SessionTimes & ShownUser & { user_id: string }>(
    `SELECT s.id, s.issued_at, s.idle_expires_at, s.absolute_expires_at,
            u.id AS user_id, u.email, u.username, u.display_name, u.roles
       FROM sessions s JOIN users u ON u.id = s.user_id
      WHERE s.id = ?`,
    id,
  )
  if (!row) return undefined
  const { user_id, email, username, display_name, roles } = row
  return { session: row, user: { id: user_id, email, username, display_name, roles } }
}

/** Which of these sessions are alive, and until when unless they are used. */
export function listLiveSessions(
  db: Queries,
  ids: Iterable<string>,
  now: Micros,
): Promise<{ id: string; expires_at: Micros }[]> {
  return db.all(
    `SELECT id, CASE WHEN idle_expires_at < absolute_expires_at THEN idle_expires_at ELSE absolute_expires_at END AS expires_at
       FROM sessions
      WHERE id IN ${listOf(db.dialect)} AND idle_expires_at >= ? AND absolute_expires_at >= ?`,
    jsonList(ids),
    now,
    now,
  )
}

export async function insertSession(tx: Queries, row: SessionRow): Promise<void> {
  await tx.run(
    `INSERT INTO sessions (id, user_id, token_hash, csrf_hash, issued_at, last_seen_at, idle_expires_at, absolute_expires_at, user_agent, ip)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.user_id,
    row.token_hash,
    row.csrf_hash,
    row.issued_at,
    row.last_seen_at,
    row.idle_expires_at,
    row.absolute_expires_at,
    row.user_agent,
    row.ip,
  )
}

/** Gives a session new tokens, if it still has the old one. @returns whether it had */
export async function rotateSession(
  tx: Queries,
  row: Omit<SessionRow, 'user_id' | 'user_agent' | 'ip'>,
  oldTokenHash: string,
): Promise<boolean> {
  const rotated = await tx.run(
    `UPDATE sessions SET token_hash = ?, csrf_hash = ?, last_seen_at = ?, idle_expires_at = ?
      WHERE id = ? AND token_hash = ?`,
    row.token_hash,
    row.csrf_hash,
    row.last_seen_at,
    row.idle_expires_at,
    row.id,
    oldTokenHash,
  )
  return rotated === 1
}

/** A user's live sessions, the one used last first. By user_id. */
export function listSessions(db: Queries, userId: string, now: Micros): Promise<ListedSession[]> {
  return db.all<ListedSession>(
    `SELECT id, user_id, issued_at, last_seen_at, idle_expires_at, absolute_expires_at, user_agent, ip FROM sessions
      WHERE user_id = ? AND idle_expires_at >= ? AND absolute_expires_at >= ?
      ORDER BY last_seen_at DESC, id DESC`,
    userId,
    now,
    now,
  )
}

/** Has a session stay expired, whatever the clock says later. */
export async function expireSession(tx: Queries, id: string): Promise<void> {
  await tx.run('UPDATE sessions SET idle_expires_at = 0 WHERE id = ?', id)
}

export async function touchSession(tx: Queries, id: string, seenAt: Micros, idleExpiresAt: Micros): Promise<void> {
  await tx.run('UPDATE sessions SET last_seen_at = ?, idle_expires_at = ? WHERE id = ?', seenAt, idleExpiresAt, id)
}

/** Ends these sessions, inside a transaction that has the streams looked at again. @returns how many there were */
export function endSessions(
  tx: Queries,
  which: { session_id: string } | { user_id: string; except?: string | undefined } | { all: true },
): Promise<number> {
  if ('all' in which) return tx.run('DELETE FROM sessions')
  if ('session_id' in which) return tx.run('DELETE FROM sessions WHERE id = ?', which.session_id)
  return tx.run('DELETE FROM sessions WHERE user_id = ? AND id <> ?', which.user_id, which.except ?? '')
}

/** @returns how many there were, 0 or 1 */
export function deleteLiveSession(tx: Queries, id: string, userId: string, now: Micros): Promise<number> {
  return tx.run(
    'DELETE FROM sessions WHERE id = ? AND user_id = ? AND idle_expires_at >= ? AND absolute_expires_at >= ?',
    id,
    userId,
    now,
    now,
  )
}

export function deleteSessionByToken(tx: Queries, tokenHash: string): Promise<number> {
  return tx.run('DELETE FROM sessions WHERE token_hash = ?', tokenHash)
}

/** Ends the user's live sessions but for `current` and the newest beside it, `keep` in all. @returns how many */
export function evictSessions(
  tx: Queries,
  userId: string,
  now: Micros,
  current: string,
  keep: number,
): Promise<number> {
  const others = 'user_id = ? AND id <> ? AND idle_expires_at >= ? AND absolute_expires_at >= ?'
  return tx.run(
    `DELETE FROM sessions WHERE ${others} AND id NOT IN
       (SELECT id FROM sessions WHERE ${others} ORDER BY issued_at DESC, id DESC LIMIT ?)`,
    userId,
    current,
    now,
    now,
    userId,
    current,
    now,
    now,
    keep - 1,
  )
}

/** Forgets up to `limit` sessions that ended for good before that. By absolute_expires_at. @returns how many */
export function deleteSessionsBefore(tx: Queries, before: Micros, limit: number): Promise<number> {
  return tx.run(
    `DELETE FROM sessions WHERE id IN (
       SELECT id FROM sessions WHERE absolute_expires_at < ? ORDER BY absolute_expires_at LIMIT ?)`,
    before,
    limit,
  )
}
