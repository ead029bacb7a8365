import { byActor } from '../audit/rules.ts'
import { refuseKeys } from '../auth/rules.ts'
import type { OwnSession, OwnSessions } from '../auth/schema.ts'
import { toSession } from '../auth/store.ts'
import type { Actor, Context } from '../context.ts'
import { ChatError } from '../errors.ts'
import { toInstant } from '../ids.ts'
import { deleteLiveSession, listSessions as findSessions, type ListedSession } from './store.ts'

/** The actor's live sessions, the one used last first. @throws ChatError `forbidden` with an API key */
export async function listSessions(ctx: Context, actor: Actor): Promise<OwnSessions> {
  refuseKeys(actor)
  const rows = await findSessions(ctx.db, actor.user_id, ctx.now())
  return { sessions: rows.map((row) => toOwnSession(row, actor.session_id)) }
}

/**
 * Ends a session of the actor's, also that of the call, and closes its streams.
 *
 * @throws ChatError `forbidden` with an API key; `not_found`, also for somebody else's and for one that has expired
 */
export async function revokeSession(ctx: Context, actor: Actor, sessionId: string): Promise<void> {
  refuseKeys(actor)
  await ctx.write(async (tx) => {
    if (!(await deleteLiveSession(tx, sessionId, actor.user_id, ctx.now()))) throw new ChatError('not_found')
    const detail = { sessions: 1, session_id: sessionId }
    tx.record({ act: 'session.revoked', ...byActor(actor), subject_id: actor.user_id, detail })
    tx.recheckStreams()
  })
}

/** A row of a list as its user sees it. */
function toOwnSession(row: ListedSession, currentId: string | undefined): OwnSession {
  return {
    ...toSession(row),
    last_seen_at: toInstant(row.last_seen_at),
    ...(row.user_agent !== null && { user_agent: row.user_agent }),
    ...(row.ip !== null && { ip: row.ip }),
    current: row.id === currentId,
  }
}
