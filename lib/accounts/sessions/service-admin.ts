import type { Context } from '../../context.ts'
import { type Actor, assertAdmin, refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { fit } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import { byActor, sessionEnded } from '../audit/rules.ts'
import { endMeans } from '../means/ending.ts'
import { assertStillAdmin } from '../users/rules.ts'
import { findUser, lockAllUsers, lockUsers } from '../users/store.ts'
import {
  type Revoked,
  SessionRevocation,
  SessionsOfUserQuery,
  type SessionsOfUsers,
  SessionsQuery,
} from './schema-admin.ts'
import { endSession, findSessionOwner, listSessionsOfUsers, toSessionOfUser } from './store-list.ts'

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
    const rows = await listSessionsOfUsers(ctx.db, ctx.sessionNow(), input, input.limit + 1)
    const sessions = fit(rows.slice(0, input.limit).map(toSessionOfUser))
    return { sessions, ...(rows.length > sessions.length && { next_after: sessions.at(-1)!.id }) }
  },
})

/**
 * Ends sessions at once; their streams close. With all sessions of a user, or of all users, what would give others access
 * again ends too: API keys, reset links, requested changes of the address and links that undo one.
 *
 * @returns the number of sessions ended
 * @throws ChatError `forbidden`, also with an API key; `not_found` for a session or a user that does not exist
 */
export const revoke = useCase({
  takes: ['actor'],
  input: SessionRevocation,
  errors: ['forbidden', 'not_found'],
  frees: 'whole',
  run: async (ctx, actor, input): Promise<Revoked> => {
    assertAdmin(actor)
    refuseKeys(actor)
    return ctx.write(async (tx) => {
      const owner = await findOwner(tx, input)
      const locked = 'all' in input ? await lockAllUsers(tx) : await lockUsers(tx, [actor.user_id, owner!], NO_OTHERS)
      assertStillAdmin(locked, actor)
      const { sessions, keys } = await end(ctx, tx, actor, input, owner)
      if (sessions + keys === 0) return { revoked: 0 }
      const one = 'session_id' in input && { session_id: input.session_id }
      const detail = { sessions, ...one, ...(keys > 0 && { keys }) }
      tx.audit({ act: 'session.revoked', ...byActor(actor), subject_id: owner, detail })
      return { revoked: sessions }
    })
  },
})

async function end(ctx: Context, tx: Tx, actor: Actor, input: SessionRevocation, owner: string | undefined) {
  const by = byActor(actor)
  if (!('session_id' in input)) return endMeans(ctx, tx, input, 'administration', { keep: ['verification_links'], by })
  tx.recheckStreams({ user_id: owner })
  const { session_id } = input
  const sessions = await endSession(tx, session_id)
  if (sessions > 0) tx.audit(sessionEnded('admin', { ...by, subject_id: owner, detail: { sessions, session_id } }))
  return { sessions, keys: 0 }
}

const NO_OTHERS = { admins: false }

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
 * Ends all sessions of a user at once, with what {@link revoke} ends; their streams close.
 *
 * @returns the number of sessions ended
 * @throws ChatError `forbidden`, also with an API key; `not_found` for a user that does not exist
 */
export const endOfUser = useCase({
  takes: ['actor', 'user_id'],
  errors: ['not_found'],
  frees: 'whole',
  run: (ctx, actor, userId): Promise<Revoked> => revoke.run(ctx, actor, { user_id: userId }),
})

/**
 * Ends one session of a user at once; its streams close.
 *
 * @throws ChatError `forbidden`, also with an API key; `not_found`, also for a session of another user
 */
export const endOne = useCase({
  takes: ['actor', 'user_id', 'session_id'],
  errors: ['not_found'],
  frees: 'whole',
  run: async (ctx, actor, userId, sessionId): Promise<void> => {
    assertAdmin(actor)
    if ((await findSessionOwner(ctx.db, sessionId)) !== userId) throw new ChatError('not_found')
    await revoke.run(ctx, actor, { session_id: sessionId })
  },
})

/** The user of the sessions; `undefined` for all. @throws ChatError `not_found` */
async function findOwner(tx: Queries, input: SessionRevocation): Promise<string | undefined> {
  if ('all' in input) return undefined
  const owner =
    'session_id' in input ? await findSessionOwner(tx, input.session_id) : (await findUser(tx, input.user_id))?.id
  if (!owner) throw new ChatError('not_found')
  return owner
}
