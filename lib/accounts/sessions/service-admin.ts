import { assertAdmin } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { fit } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { byActor } from '../audit/rules.ts'
import { findUser } from '../users/store.ts'
import { Revocation, type Revoked, SessionsOfUserQuery, type SessionsOfUsers, SessionsQuery } from './schema-admin.ts'
import { endSessions, findSessionOwner, listSessionsOfUsers, toSessionOfUser } from './store-list.ts'

/**
 * The live sessions, oldest first: of one user or of all.
 *
 * @throws ChatError `forbidden`
 */
export const list = useCase({
  takes: ['actor'],
  input: SessionsQuery,
  errors: ['forbidden'],
  run: async (ctx, actor, input): Promise<SessionsOfUsers> => {
    assertAdmin(actor)
    const rows = await listSessionsOfUsers(ctx.db, ctx.now(), input, input.limit + 1)
    const sessions = fit(rows.slice(0, input.limit).map(toSessionOfUser))
    return { sessions, ...(rows.length > sessions.length && { next_after: sessions.at(-1)!.id }) }
  },
})

/**
 * Ends sessions at once; their streams close.
 *
 * @returns the number of sessions ended
 * @throws ChatError `forbidden`; `not_found` for a session or a user that does not exist
 */
export const revoke = useCase({
  takes: ['actor'],
  input: Revocation,
  errors: ['forbidden', 'not_found'],
  run: async (ctx, actor, input): Promise<Revoked> => {
    assertAdmin(actor)
    return ctx.write(async (tx) => {
      const owner = await findOwner(tx, input)
      const revoked = await endSessions(tx, input)
      if (revoked === 0) return { revoked }
      const which = 'session_id' in input && { session_id: input.session_id }
      tx.audit({
        act: 'session.revoked',
        ...byActor(actor),
        subject_id: owner,
        detail: { sessions: revoked, ...which },
      })
      tx.recheckStreams({ user_id: owner })
      return { revoked }
    })
  },
})

/**
 * The live sessions of a user, oldest first.
 *
 * @throws ChatError `forbidden`; `not_found` for a user that does not exist
 */
export const listOfUser = useCase({
  takes: ['actor', 'user_id'],
  input: SessionsOfUserQuery,
  errors: ['not_found'],
  run: async (ctx, actor, userId, input): Promise<SessionsOfUsers> => {
    assertAdmin(actor)
    if (!(await findUser(ctx.db, userId))) throw new ChatError('not_found')
    return list.run(ctx, actor, { ...input, user_id: userId })
  },
})

/**
 * Ends all sessions of a user at once; their streams close.
 *
 * @returns the number of sessions ended
 * @throws ChatError `forbidden`; `not_found` for a user that does not exist
 */
export const endOfUser = useCase({
  takes: ['actor', 'user_id'],
  errors: ['not_found'],
  run: (ctx, actor, userId): Promise<Revoked> => revoke.run(ctx, actor, { user_id: userId }),
})

/**
 * Ends one session of a user at once; its streams close.
 *
 * @throws ChatError `forbidden`; `not_found`, also for a session of another user
 */
export const endOne = useCase({
  takes: ['actor', 'user_id', 'session_id'],
  errors: ['not_found'],
  run: async (ctx, actor, userId, sessionId): Promise<void> => {
    assertAdmin(actor)
    if ((await findSessionOwner(ctx.db, sessionId)) !== userId) throw new ChatError('not_found')
    await revoke.run(ctx, actor, { session_id: sessionId })
  },
})

/** The user of the sessions; `undefined` for all. @throws ChatError `not_found` */
async function findOwner(tx: Queries, input: Revocation): Promise<string | undefined> {
  if ('all' in input) return undefined
  const owner =
    'session_id' in input ? await findSessionOwner(tx, input.session_id) : (await findUser(tx, input.user_id))?.id
  if (!owner) throw new ChatError('not_found')
  return owner
}
