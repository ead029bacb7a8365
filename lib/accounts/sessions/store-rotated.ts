import { ChatError } from '../../core/errors.ts'
import { SECOND } from '../../core/units.ts'
import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/**
 * The maximum number of refreshes of a session per hour. Without it, a thief could refresh until the owner's token is
 * forgotten, and the theft would stay undetected.
 */
const REFRESHES = { most: 100, seconds: 3600 }

/** The number of replaced tokens kept per session, for ten hours at least. An older one is unknown: just 401. */
const MAX_TOKENS_PER_SESSION = 1_000

/** A token that a session had before a refresh. */
interface RotatedToken {
  session_id: string
  user_id: string
  rotated_at: Micros
}

/**
 * Stores the token that a refresh replaces, and deletes the oldest ones. By rotated_tokens_of_session.
 *
 * @throws ChatError `rate_limited` for a session that was refreshed too often
 */
export async function rememberRotated(tx: Queries, tokenHash: string, sessionId: string, now: Micros): Promise<void> {
  const earlier = await nthLatest(tx, sessionId, REFRESHES.most)
  const rest = earlier === undefined ? 0 : earlier + REFRESHES.seconds * SECOND - now
  // A rotation in the future was written before a clock stepped back.
  if (rest > 0 && earlier! <= now)
    throw new ChatError('rate_limited', { retry_after_seconds: Math.ceil(rest / SECOND) })
  await tx.run(
    sql`INSERT INTO rotated_tokens (token_hash, session_id, rotated_at) VALUES (${tokenHash}, ${sessionId}, ${now})`,
  )
  const oldest = await nthLatest(tx, sessionId, MAX_TOKENS_PER_SESSION)
  await tx.run(sql`DELETE FROM rotated_tokens WHERE session_id = ${sessionId} AND rotated_at < ${oldest ?? 0}`)
}

/** When the `n`-th last token was replaced; `undefined` if there are fewer. */
async function nthLatest(tx: Queries, sessionId: string, n: number): Promise<Micros | undefined> {
  const row = await tx.get<{ rotated_at: Micros }>(
    sql`SELECT rotated_at FROM rotated_tokens WHERE session_id = ${sessionId} ORDER BY rotated_at DESC
          LIMIT 1 OFFSET ${n - 1}`,
  )
  return row?.rotated_at
}

/** By primary key. */
export function findRotated(db: Queries, tokenHash: string): Promise<RotatedToken | undefined> {
  return db.get<RotatedToken>(
    sql`SELECT r.session_id, s.user_id, r.rotated_at FROM rotated_tokens r JOIN sessions s ON s.id = r.session_id
      WHERE r.token_hash = ${tokenHash}`,
  )
}
