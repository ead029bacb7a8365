import type { Cutoff } from '../../core/clock.ts'
import type { Queries } from '../../storage/database.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'

/** What a mailed link will do, as it is stored until it is done. */
export interface EmailRequestRow {
  id: string
  /** `invite`: to the service; `join`: to a conversation, by the id of the invite. */
  kind: 'invite' | 'join' | 'change' | 'undo'
  /** `null` for an invited person. */
  user_id: string | null
  email: string
  email_key: string
  roles: string | null
  /** The conversations that an invited person joins, separated by commas. */
  conversation_ids: string | null
  /** `null` for the operator. */
  created_by: string | null
  created_at: Micros
  expires_at: Micros
}

const COLUMNS = sql`r.id, r.kind, r.user_id, r.email, r.email_key, r.roles, r.conversation_ids, r.created_by, r.created_at, r.expires_at`

/** Before it is stored; without conversations unless it invites a newcomer to some. */
export type NewRequest = Omit<EmailRequestRow, 'conversation_ids'> & Partial<Pick<EmailRequestRow, 'conversation_ids'>>

export async function insertRequest(tx: Queries, row: NewRequest): Promise<void> {
  await tx.run(
    sql`INSERT INTO email_requests (id, kind, user_id, email, email_key, roles, conversation_ids, created_by, created_at,
                                 expires_at)
     VALUES (${row.id}, ${row.kind}, ${row.user_id}, ${row.email}, ${row.email_key}, ${row.roles}, ${row.conversation_ids ?? null},
             ${row.created_by}, ${row.created_at}, ${row.expires_at})`,
  )
}

/** A request that has not expired. By primary key. */
export function findRequest(db: Queries, id: string, now: Micros): Promise<EmailRequestRow | undefined> {
  return db.get(sql`SELECT ${COLUMNS} FROM email_requests r WHERE r.id = ${id} AND r.expires_at >= ${now}`)
}

/** The request of a token, if it has not expired. By primary keys. */
export function findRequestByToken(
  db: Queries,
  tokenHash: string,
  kind: EmailRequestRow['kind'],
  now: Micros,
): Promise<EmailRequestRow | undefined> {
  return db.get(
    sql`SELECT ${COLUMNS} FROM email_requests r JOIN email_request_tokens t ON t.request_id = r.id
      WHERE t.token_hash = ${tokenHash} AND r.kind = ${kind} AND r.expires_at >= ${now}`,
  )
}

/** Adds a token to a request that still exists. @returns whether it does */
export async function insertRequestToken(tx: Queries, requestId: string, tokenHash: string): Promise<boolean> {
  const added = await tx.run(
    sql`INSERT INTO email_request_tokens (token_hash, request_id) SELECT ${tokenHash}, id FROM email_requests
          WHERE id = ${requestId}`,
  )
  return added === 1
}

/** Deletes a request with its tokens. @returns whether it existed: of several callers one gets it */
export async function deleteRequest(tx: Queries, id: string, kind: EmailRequestRow['kind']): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM email_requests WHERE id = ${id} AND kind = ${kind}`)) === 1
}

/** Whether a user has a request that has not expired. By email_requests_of_user. */
export async function hasRequest(db: Queries, userId: string, kind: 'change' | 'undo', now: Micros): Promise<boolean> {
  const row = await db.get(
    sql`SELECT 1 AS found FROM email_requests WHERE user_id = ${userId} AND kind = ${kind} AND expires_at >= ${now}`,
  )
  return row !== undefined
}

/** Deletes the requests of a user to change the address. By email_requests_of_user. */
export async function deleteEmailChanges(tx: Queries, userId: string): Promise<void> {
  await tx.run(sql`DELETE FROM email_requests WHERE user_id = ${userId} AND kind = 'change'`)
}

/** Deletes the invites of newcomers to an address. By email_requests_by_email. */
export async function deleteInvitesTo(tx: Queries, emailKey: string): Promise<void> {
  await tx.run(sql`DELETE FROM email_requests WHERE email_key = ${emailKey} AND kind = 'invite'`)
}

/** Deletes the addresses of mailed invites to conversations that a user has made, and of those to the user's address. */
export async function deleteMailedJoins(tx: Queries, userId: string, emailKey: string): Promise<void> {
  await tx.run(sql`DELETE FROM email_requests WHERE kind = 'join' AND (created_by = ${userId}
         OR email_key = ${emailKey})`)
}

/**
 * Removes the addresses of mailed invites to conversations that are revoked. Their tokens stay: accepting with one still fails
 * with `invite_revoked`. By primary key.
 */
export async function forgetJoins(tx: Queries, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.run(sql`UPDATE email_requests SET email = '', email_key = '' WHERE kind = 'join' AND id ${among(tx, ids)}`)
}

/** Deletes the invites of newcomers that a user has made. @returns their ids */
export async function deleteInvitesBy(tx: Queries, userId: string): Promise<string[]> {
  const deleted = await tx.all<{ id: string }>(
    sql`DELETE FROM email_requests WHERE created_by = ${userId} AND kind = 'invite' RETURNING id`,
  )
  return deleted.map(({ id }) => id)
}

/** Up to `limit` open invites of newcomers after one, oldest first. By primary key. */
export function listNewcomers(db: Queries, now: Micros, after: string, limit: number): Promise<EmailRequestRow[]> {
  return db.all(
    sql`SELECT ${COLUMNS} FROM email_requests r
      WHERE r.kind = 'invite' AND r.expires_at >= ${now} AND r.id > ${after}
      ORDER BY r.id
      LIMIT ${limit}`,
  )
}

/** The number of open invites of newcomers. */
export async function countNewcomers(db: Queries, now: Micros): Promise<number> {
  const row = await db.get<{ total: number }>(
    sql`SELECT count(*) AS total FROM email_requests WHERE kind = 'invite' AND expires_at >= ${now}`,
  )
  return row!.total
}

/** Deletes up to `limit` requests that expired before `before`. By email_requests_by_expiry. @returns the number */
export function deleteExpiredRequests(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM email_requests WHERE id IN
       (SELECT id FROM email_requests WHERE expires_at < ${before} ORDER BY expires_at LIMIT ${limit})`,
  )
}
