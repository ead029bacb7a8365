import type { Cutoff } from '../../core/clock.ts'
import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/** A pending reset as it is stored: only a digest of its token. */
export interface ResetRow {
  token_hash: string
  user_id: string
  expires_at: Micros
}

/** The user of a valid token. By primary key. */
export function findReset(db: Queries, tokenHash: string, now: Micros): Promise<Pick<ResetRow, 'user_id'> | undefined> {
  return db.get(sql`SELECT user_id FROM password_resets WHERE token_hash = ${tokenHash} AND expires_at >= ${now}`)
}

/**
 * Adds a reset, if a person with this address exists and is not disabled: for an unknown address the work is the same,
 * and nothing is added.
 *
 * @returns the number of rows added: 0 also when the account was changed since
 */
export function insertReset(tx: Queries, row: ResetRow & { email_key: string }): Promise<number> {
  const bigint = tx.dialect === 'postgresql' ? sql`::bigint` : sql``
  return tx.run(
    sql`INSERT INTO password_resets (token_hash, user_id, expires_at)
     SELECT ${row.token_hash}, id, ${row.expires_at}${bigint} FROM users WHERE id = ${row.user_id}
         AND email_key = ${row.email_key} AND disabled_at IS NULL AND kind = 'person'`,
  )
}

/** Uses up a token. @returns the number deleted, 0 or 1: of several callers one gets it */
export function takeReset(tx: Queries, tokenHash: string, now: Micros): Promise<number> {
  return tx.run(sql`DELETE FROM password_resets WHERE token_hash = ${tokenHash} AND expires_at >= ${now}`)
}

/** Deletes all but the `keep` resets of a user that expire last. By user_id. */
export async function deleteOldestResets(tx: Queries, userId: string, keep: number): Promise<void> {
  await tx.run(
    sql`DELETE FROM password_resets WHERE user_id = ${userId} AND token_hash NOT IN
       (SELECT token_hash FROM password_resets WHERE user_id = ${userId} ORDER BY expires_at DESC, token_hash
           LIMIT ${keep})`,
  )
}

/** Deletes up to `limit` resets that expired before `before`. @returns the number of resets deleted */
export function deleteExpiredResets(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM password_resets
      WHERE token_hash IN (SELECT token_hash FROM password_resets WHERE expires_at < ${before} LIMIT ${limit})`,
  )
}
