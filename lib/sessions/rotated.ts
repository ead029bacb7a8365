import { noteUse } from '../auth/uses.ts'
import type { Context } from '../context.ts'
import { SECOND } from '../ids.ts'
import type { Queries } from '../storage/database.ts'
import type { Micros } from '../storage/sql.ts'
import { deleteLiveSession } from './store.ts'

/** Tokens kept of a session. An older one is unknown when it comes back: 401, and nothing more. */
const TOKENS_PER_SESSION = 20

/** For so long an old token may come back by accident: from another tab, or in a request that was under way. */
const GRACE_SECONDS = 10

/** A token that a session had before a refresh. */
interface RotatedToken {
  session_id: string
  user_id: string
  rotated_at: Micros
}

/** Remembers the token that a refresh replaces, and forgets the oldest ones. By rotated_tokens_of_session. */
export async function rememberRotated(tx: Queries, tokenHash: string, sessionId: string, now: Micros): Promise<void> {
  await tx.run(
    'INSERT INTO rotated_tokens (token_hash, session_id, rotated_at) VALUES (?, ?, ?)',
    tokenHash,
    sessionId,
    now,
  )
  await tx.run(
    `DELETE FROM rotated_tokens WHERE session_id = ? AND token_hash NOT IN
       (SELECT token_hash FROM rotated_tokens WHERE session_id = ? ORDER BY rotated_at DESC, token_hash LIMIT ?)`,
    sessionId,
    sessionId,
    TOKENS_PER_SESSION,
  )
}

/**
 * Ends the session of a token that was rotated away, when it comes back after {@link GRACE_SECONDS}: a
 * copy of it was stolen, or its owner is cut off from a session that a thief has refreshed (RFC 9700, section 4.14.2).
 * Nothing happens for a token that no session had, which costs one look-up.
 */
export async function endIfReplayed(ctx: Context, tokenHash: string, ip: string | undefined): Promise<void> {
  const found = await findRotated(ctx.db, tokenHash)
  const now = ctx.now()
  if (!found || now - found.rotated_at <= GRACE_SECONDS * SECOND) return
  const { session_id, user_id } = found
  await noteUse(ctx, 'session', async (tx) => {
    if (!(await deleteLiveSession(tx, session_id, user_id, now))) return
    tx.record({ act: 'session.replayed', subject_id: user_id, ip, detail: { session_id } })
    tx.recheckStreams()
  })
}

/** By primary key. */
function findRotated(db: Queries, tokenHash: string): Promise<RotatedToken | undefined> {
  return db.get<RotatedToken>(
    `SELECT r.session_id, s.user_id, r.rotated_at FROM rotated_tokens r JOIN sessions s ON s.id = r.session_id
      WHERE r.token_hash = ?`,
    tokenHash,
  )
}
