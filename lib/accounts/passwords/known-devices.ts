import type { Cutoff } from '../../core/clock.ts'
import { digest, newToken } from '../../core/ids.ts'
import { SECOND } from '../../core/units.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'

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
    'SELECT token_hash FROM known_devices WHERE token_hash = ? AND user_id = ? AND expires_at > ?',
    digest(token),
    userId ?? '',
    now,
  )
  return row?.token_hash
}

/**
 * Remembers a browser in which the user has just signed in.
 *
 * @param known its token, if the user has signed in there before
 * @returns the token of the browser
 */
export async function rememberDevice(
  tx: Queries,
  userId: string,
  known: string | undefined,
  now: Micros,
): Promise<string> {
  const token = known ?? newToken()
  await tx.run(
    `INSERT INTO known_devices (token_hash, user_id, expires_at) VALUES (?, ?, ?)
     ON CONFLICT (token_hash) DO UPDATE SET expires_at = excluded.expires_at`,
    digest(token),
    userId,
    now + DEVICE_SECONDS * SECOND,
  )
  await tx.run(
    `DELETE FROM known_devices WHERE user_id = ? AND token_hash NOT IN
       (SELECT token_hash FROM known_devices WHERE user_id = ? ORDER BY expires_at DESC, token_hash LIMIT ?)`,
    userId,
    userId,
    MAX_DEVICES,
  )
  return token
}

/** Deletes up to `limit` expired browsers. @returns the number of browsers deleted */
export function deleteExpiredDevices(tx: Queries, now: Cutoff, limit: number): Promise<number> {
  return tx.run(
    'DELETE FROM known_devices WHERE token_hash IN (SELECT token_hash FROM known_devices WHERE expires_at <= ? LIMIT ?)',
    now,
    limit,
  )
}
