import type { Context } from '../../context.ts'
import { type Actor, refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { SECOND } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import { takeShared } from '../../limits/store-buckets.ts'
import type { Queries } from '../../storage/database.ts'
import { toPasswordKey } from '../passwords/store.ts'
import { findUser, lockUser } from '../users/store.ts'
import { Confirmation } from './schema.ts'
import { recordFailure } from './service.ts'
import { confirmSession, findConfirmation } from './store.ts'

/**
 * How long after a sign-in or a confirmed password a session may create lasting access: a session stolen later cannot.
 */
const CONFIRMED_SECONDS = 600

/** The rate at which a user may try the own password; each try costs one or two hashes. */
const ATTEMPTS = { requests_per_second: 5 / 60, burst: 5 }

/**
 * Confirms the actor's password, so that the current session may create keys and link identities for ten minutes.
 *
 * @throws ChatError `forbidden` with an API key; `conflict` for a user without a password, who must sign in again
 *   instead; `invalid_credentials`; `rate_limited`; `unauthenticated` when the session has just ended
 */
export const confirm = useCase({
  takes: ['actor'],
  input: Confirmation,
  errors: ['invalid_credentials', 'conflict'],
  run: async (ctx, actor, input): Promise<void> => {
    refuseKeys(actor)
    const { user_id, session_id } = actor
    if (!(await findUser(ctx.db, user_id))?.password_hash)
      throw new ChatError('conflict', { message: 'This account has no password: sign in again through the provider.' })
    const hash = await checkOwnPassword(ctx, actor, input.password)
    await ctx.write(async (tx) => {
      await lockUser(tx, user_id)
      // Changed after the comparison: the given password is no longer the current one.
      if ((await findUser(tx, user_id))?.password_hash !== hash) throw new ChatError('invalid_credentials')
      if (session_id !== undefined && !(await confirmSession(tx, session_id, ctx.sessionNow())))
        throw new ChatError('unauthenticated')
    })
  },
})

/**
 * Checks inside a transaction that the current session was confirmed at most ten minutes ago: by its sign-in or by
 * {@link confirm}. An actor without a session passes.
 *
 * @throws ChatError `confirmation_required`; `unauthenticated` when the session has just ended
 */
export async function requireConfirmation(ctx: Context, db: Queries, actor: Actor): Promise<void> {
  if (!(await isConfirmed(ctx, db, actor))) throw new ChatError('confirmation_required')
}

/** Whether {@link requireConfirmation} passes. @throws ChatError `unauthenticated` when the session has just ended */
export async function isConfirmed(ctx: Context, db: Queries, { session_id }: Actor): Promise<boolean> {
  if (session_id === undefined) return true
  const confirmedAt = await findConfirmation(db, session_id)
  if (confirmedAt === undefined) throw new ChatError('unauthenticated')
  return ctx.sessionNow() - confirmedAt <= CONFIRMED_SECONDS * SECOND
}

/**
 * Checks the actor's own password, limited so that a stolen session cannot guess it or fill the queue. All callers of
 * this function share one count of tries and one of failures.
 *
 * @returns the hash it was compared with
 * @throws ChatError `invalid_credentials`, also for a user without a password; `rate_limited`; `unavailable` when too
 *   many passwords wait to be hashed
 */
export async function checkOwnPassword(ctx: Context, actor: Actor, password: string): Promise<string> {
  const { user_id, ip } = actor
  const limit = await takeShared(ctx.db, `password:${user_id}`, ctx.now(), ATTEMPTS)
  if (!limit.allowed) throw new ChatError('rate_limited', { retry_after_seconds: limit.retry_after_seconds ?? 1 })
  const hash = (await findUser(ctx.db, user_id))?.password_hash
  const account = toPasswordKey(user_id)
  const { matches, pause_seconds } = await ctx.accounts.attempts.run(account, async (attempt) => {
    const matches = await ctx.accounts.passwords.verify(password, hash, { user: user_id, ip })
    if (matches) await ctx.write(attempt.succeed)
    return { matches, pause_seconds: attempt.pause_seconds }
  })
  if (matches && hash) return hash
  await recordFailure(ctx, actor, { subject_id: user_id, account, why: 'invalid_credentials', pause_seconds })
  throw new ChatError('invalid_credentials')
}
