import { assertAdmin } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { byActor } from '../audit/rules.ts'
import { findUser } from '../users/store.ts'
import { Revocation, type SessionOfUser, SessionsQuery } from './schema-admin.ts'
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
  run: async (ctx, actor, input): Promise<{ sessions: SessionOfUser[]; next_after?: string }> => {
    assertAdmin(actor)
    const rows = await listSessionsOfUsers(ctx.db, ctx.now(), input, input.limit + 1)
    const sessions = rows.slice(0, input.limit).map(toSessionOfUser)
    return { sessions, ...(rows.length > input.limit && { next_after: sessions.at(-1)!.id }) }
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
  run: async (ctx, actor, input): Promise<{ revoked: number }> => {
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

/** The user of the sessions; `undefined` for all. @throws ChatError `not_found` */
async function findOwner(tx: Queries, input: Revocation): Promise<string | undefined> {
  if ('all' in input) return undefined
  const owner =
    'session_id' in input ? await findSessionOwner(tx, input.session_id) : (await findUser(tx, input.user_id))?.id
  if (!owner) throw new ChatError('not_found')
  return owner
}
