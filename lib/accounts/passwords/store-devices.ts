import type { Cutoff } from '../../core/clock.ts'
import { digest, newToken } from '../../core/ids.ts'
import { SECOND } from '../../core/units.ts'
import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/** How long a browser is known after a sign-in; every sign-in restarts it. */
export const DEVICE_SECONDS = 180 * 24 * 60 * 60

/**
 * The maximum number of known browsers per user; a program without cookies adds one at each sign-in, which replaces the
 * oldest.
 */
const MAX_DEVICES = 20

/** The stored digest of a browser's token, if this user has signed in there before. */
export async function findDevice(
  db: Queries,
  token: string | undefined,
  userId: string | undefined,
  now: Micros,
): Promise<string | undefined> {
  if (!token) return undefined
  const row = await db.get<{ token_hash: string }>(
    sql`SELECT token_hash FROM known_devices WHERE token_hash = ${digest(token)} AND user_id = ${userId ?? ''}
          AND expires_at > ${now}`,
  )
  return row?.token_hash
}

/**
 * Remembers a browser in which the user has just signed in.
 *
 * @param deviceToken its token, if the user has signed in there before
 * @returns the token of the browser
 */
export async function rememberDevice(
  tx: Queries,
  userId: string,
  deviceToken: string | undefined,
  now: Micros,
): Promise<string> {
  const token = deviceToken ?? newToken()
  await tx.run(
    sql`INSERT INTO known_devices (token_hash, user_id, expires_at)
          VALUES (${digest(token)}, ${userId}, ${now + DEVICE_SECONDS * SECOND})
     ON CONFLICT (token_hash) DO UPDATE SET expires_at = excluded.expires_at`,
  )
  await tx.run(
    sql`DELETE FROM known_devices WHERE user_id = ${userId} AND token_hash NOT IN
       (SELECT token_hash FROM known_devices WHERE user_id = ${userId} ORDER BY expires_at DESC, token_hash
           LIMIT ${MAX_DEVICES})`,
  )
  return token
}

/** Deletes up to `limit` expired browsers. @returns the number of browsers deleted */
export function deleteExpiredDevices(tx: Queries, now: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM known_devices WHERE token_hash IN (SELECT token_hash FROM known_devices WHERE expires_at <= ${now}
          LIMIT ${limit})`,
  )
}
