import type { Cutoff } from '../../core/clock.ts'
import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/** A mailed link as it is stored: only a digest of its token. */
export interface VerificationRow {
  token_hash: string
  user_id: string
  /** The key of the address that the link was mailed to. */
  email_key: string
  expires_at: Micros
}

/** The link of a token, while it is valid. By primary key. */
export function findVerification(
  db: Queries,
  tokenHash: string,
  now: Micros,
): Promise<Pick<VerificationRow, 'user_id' | 'email_key'> | undefined> {
  return db.get(
    sql`SELECT user_id, email_key FROM email_verifications WHERE token_hash = ${tokenHash} AND expires_at >= ${now}`,
  )
}

/** Adds a link and deletes the oldest ones beyond `keep`. By email_verifications_of_user. */
export async function insertVerification(tx: Queries, row: VerificationRow, keep: number): Promise<void> {
  await tx.run(
    sql`INSERT INTO email_verifications (token_hash, user_id, email_key, expires_at)
          VALUES (${row.token_hash}, ${row.user_id}, ${row.email_key}, ${row.expires_at})`,
  )
  await tx.run(
    sql`DELETE FROM email_verifications WHERE user_id = ${row.user_id} AND token_hash NOT IN
       (SELECT token_hash FROM email_verifications WHERE user_id = ${row.user_id} ORDER BY expires_at DESC, token_hash
           LIMIT ${keep})`,
  )
}

/** Deletes the pending links of a user. By email_verifications_of_user. @returns the number deleted */
export function deleteVerifications(tx: Queries, userId: string): Promise<number> {
  return tx.run(sql`DELETE FROM email_verifications WHERE user_id = ${userId}`)
}

/** Deletes up to `limit` links that expired before `before`. @returns the number deleted */
export function deleteExpiredVerifications(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM email_verifications
      WHERE token_hash IN (SELECT token_hash FROM email_verifications WHERE expires_at < ${before} LIMIT ${limit})`,
  )
}
