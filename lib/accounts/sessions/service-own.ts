import { refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { fit, fromCursor, toCursor } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { byActor } from '../audit/rules.ts'
import { type OwnSession, type OwnSessions, OwnSessionsQuery } from './schema.ts'
import { toSession } from './store.ts'
import { deleteLiveSession, listSessions as findSessions, type ListedSession } from './store-list.ts'

/**
 * A page of the actor's live sessions, the last used first.
 *
 * @throws ChatError `forbidden` with an API key; `invalid_cursor`
 */
export const listSessions = useCase({
  takes: ['actor'],
  input: OwnSessionsQuery,
  errors: ['invalid_cursor'],
  run: async (ctx, actor, input): Promise<OwnSessions> => {
    refuseKeys(actor)
    const before = input.after === undefined ? LATEST : fromCursor(input.after)
    if (!before) throw new ChatError('invalid_cursor')
    const rows = await findSessions(ctx.db, actor.user_id, ctx.sessionNow(), before, input.limit + 1)
    const sessions = fit(rows.slice(0, input.limit).map((row) => toOwnSession(row, actor.session_id)))
    const last = sessions.length < rows.length ? rows[sessions.length - 1] : undefined
    return { sessions, ...(last && { next_after: toCursor({ at: last.last_seen_at, id: last.id }) }) }
  },
})

const LATEST = { at: Number.MAX_SAFE_INTEGER, id: '' }

/**
 * Ends a session of the actor, including the current one, and closes its streams.
 *
 * @throws ChatError `forbidden` with an API key; `not_found`, also for another user's and for an expired one
 */
export const revokeSession = useCase({
  takes: ['actor', 'session_id'],
  errors: ['not_found'],
  frees: 'whole',
  run: async (ctx, actor, sessionId): Promise<void> => {
    refuseKeys(actor)
    await ctx.write(async (tx) => {
      if (!(await deleteLiveSession(tx, sessionId, actor.user_id, ctx.sessionNow()))) throw new ChatError('not_found')
      const detail = { sessions: 1, session_id: sessionId }
      tx.audit({ act: 'session.revoked', ...byActor(actor), subject_id: actor.user_id, detail })
      tx.recheckStreams({ user_id: actor.user_id })
    })
  },
})

/** A row of a list as its user reads it. */
function toOwnSession(row: ListedSession, currentId: string | undefined): OwnSession {
  return {
    ...toSession(row),
    last_seen_at: toInstant(row.last_seen_at),
    ...(row.user_agent !== null && { user_agent: row.user_agent }),
    ...(row.ip !== null && { ip: row.ip }),
    current: row.id === currentId,
  }
}
