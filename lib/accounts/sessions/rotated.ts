import type { Context } from '../../context.ts'
import { SECOND } from '../../core/units.ts'
import { recordUse } from './record-use.ts'
import { deleteLiveSession } from './store-list.ts'
import { findRotated } from './store-rotated.ts'

/** How long a replaced token may be used by accident: from another tab, or in a request in progress. */
const GRACE_SECONDS = 10

/**
 * Ends the session of a replaced token that is used after {@link GRACE_SECONDS}: either a copy of it was stolen, or a
 * thief has refreshed the session and its owner still uses the old token (RFC 9700, section 4.14.2). An unknown token
 * costs one look-up and has no effect.
 */
export async function endIfReplayed(ctx: Context, tokenHash: string, ip: string | undefined): Promise<void> {
  const row = await findRotated(ctx.db, tokenHash)
  const now = ctx.sessionNow()
  if (!row || now - row.rotated_at <= GRACE_SECONDS * SECOND) return
  const { session_id, user_id } = row
  await recordUse(ctx, 'session', async (tx) => {
    if (!(await deleteLiveSession(tx, session_id, user_id, now))) return
    tx.audit({ act: 'session.replayed', subject_id: user_id, ip, detail: { session_id } })
    tx.recheckStreams({ user_id })
  })
}
