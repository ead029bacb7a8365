import type { Cutoff } from '../../core/clock.ts'
import type { Place } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'
import type { SessionOfUser } from './schema-admin.ts'
import type { SessionRow } from './store.ts'

/** The columns of a session in a list. */
export type ListedSession = Omit<SessionRow, 'token_hash' | 'csrf_hash' | 'confirmed_at'>

/** Up to `limit` of a user's live sessions, the last used first, after the given one. By user_id. */
export function listSessions(
  db: Queries,
  userId: string,
  now: Micros,
  before: Place,
  limit: number,
): Promise<ListedSession[]> {
  return db.all<ListedSession>(
    sql`SELECT id, user_id, issued_at, last_seen_at, idle_expires_at, absolute_expires_at, user_agent, ip FROM sessions
      WHERE user_id = ${userId} AND idle_expires_at >= ${now} AND absolute_expires_at >= ${now}
          AND (last_seen_at, id) < (${before.at}, ${before.id})
      ORDER BY last_seen_at DESC, id DESC
      LIMIT ${limit}`,
  )
}

interface SessionOfUserRow extends ListedSession {
  username: string
}

/** Up to `limit` live sessions after one, by id, which is the order of their creation. */
export function listSessionsOfUsers(
  db: Queries,
  now: Micros,
  { user_id, after = '' }: { user_id?: string | undefined; after?: string | undefined },
  limit: number,
): Promise<SessionOfUserRow[]> {
  return db.all<SessionOfUserRow>(
    sql`SELECT s.id, s.user_id, u.username, s.issued_at, s.last_seen_at, s.idle_expires_at, s.absolute_expires_at,
            s.user_agent, s.ip
       FROM sessions s JOIN users u ON u.id = s.user_id
      WHERE s.id > ${after} AND s.idle_expires_at >= ${now} AND s.absolute_expires_at >= ${now}
            ${user_id ? sql`AND s.user_id = ${user_id}` : sql``}
      ORDER BY s.id
      LIMIT ${limit}`,
  )
}

/** A row as an administrator reads it. */
export function toSessionOfUser(row: SessionOfUserRow): SessionOfUser {
  const { id, user_id, username, user_agent, ip } = row
  return {
    id,
    user_id,
    username,
    issued_at: toInstant(row.issued_at),
    last_seen_at: toInstant(row.last_seen_at),
    expires_at: toInstant(Math.min(row.idle_expires_at, row.absolute_expires_at)),
    ...(user_agent && { user_agent }),
    ...(ip && { ip }),
  }
}

/** The user of a session, expired or not. By primary key. */
export async function findSessionOwner(db: Queries, id: string): Promise<string | undefined> {
  return (await db.get<{ user_id: string }>(sql`SELECT user_id FROM sessions WHERE id = ${id}`))?.user_id
}

/** The live ones of these sessions, with their deadline if they are not used. */
export function listLiveSessions(
  db: Queries,
  ids: Iterable<string>,
  now: Micros,
): Promise<{ id: string; expires_at: Micros }[]> {
  return db.all(
    sql`SELECT id, CASE WHEN idle_expires_at < absolute_expires_at THEN idle_expires_at ELSE absolute_expires_at
          END AS expires_at
       FROM sessions
      WHERE id ${among(db, ids)} AND idle_expires_at >= ${now} AND absolute_expires_at >= ${now}`,
  )
}

/** Deletes a session, inside a transaction that rechecks the open streams. @returns the number deleted, 0 or 1 */
export function endSession(tx: Queries, id: string): Promise<number> {
  return tx.run(sql`DELETE FROM sessions WHERE id = ${id}`)
}

/** @returns the number deleted, 0 or 1 */
export function deleteLiveSession(tx: Queries, id: string, userId: string, now: Micros): Promise<number> {
  return tx.run(
    sql`DELETE FROM sessions WHERE id = ${id} AND user_id = ${userId} AND idle_expires_at >= ${now}
          AND absolute_expires_at >= ${now}`,
  )
}

/**
 * Deletes up to `limit` sessions whose absolute deadline passed before an instant. By absolute_expires_at. @returns the
 * number deleted
 */
export function deleteSessionsBefore(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM sessions WHERE id IN (
       SELECT id FROM sessions WHERE absolute_expires_at < ${before} ORDER BY absolute_expires_at LIMIT ${limit})`,
  )
}
