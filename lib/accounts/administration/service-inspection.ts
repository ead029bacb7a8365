import { assertAdmin, refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { byActor } from '../audit/rules.ts'
import { clearFailures, findPauseEnd, toAttemptKey, toPasswordKey } from '../passwords/store.ts'
import { toAccount } from '../users/accounts.ts'
import { photosOf } from '../users/photos.ts'
import type { AccountFacts } from '../users/schema.ts'
import { countBelongings, findUser } from '../users/store.ts'
import { takeAccount } from './service.ts'

/**
 * An account with the numbers of what belongs to it, and until when failed sign-ins lock it.
 *
 * @throws ChatError `forbidden`; `not_found`
 */
export const describe = useCase({
  takes: ['actor', 'user_id'],
  errors: ['not_found'],
  run: async (ctx, actor, userId): Promise<AccountFacts> => {
    assertAdmin(actor)
    return ctx.db.snapshot(async (db) => {
      const user = await findUser(db, userId)
      if (!user) throw new ChatError('not_found')
      const now = ctx.now()
      const accounts = [toAttemptKey(user.email, undefined), toPasswordKey(userId)]
      const ends = accounts.map((each) => findPauseEnd(db, each, now))
      const locked = Math.max(...(await Promise.all(ends)).map((end) => end ?? 0))
      return {
        user: await toAccount(db, user, photosOf(ctx.config)),
        has_password: user.password_hash !== null,
        ...(locked > 0 && { locked_until: toInstant(locked) }),
        ...(await countBelongings(db, userId, now)),
      }
    })
  },
})

/**
 * Forgets the failed sign-ins of an account, which may sign in again at once.
 *
 * @throws ChatError `forbidden`, also with an API key; `not_found`
 */
export const unlock = useCase({
  takes: ['actor', 'user_id'],
  errors: ['not_found'],
  run: async (ctx, actor, userId): Promise<void> => {
    assertAdmin(actor)
    refuseKeys(actor)
    await ctx.write(async (tx) => {
      const user = await takeAccount(tx, actor, userId, { resigns: false })
      await clearFailures(tx, toAttemptKey(user.email, undefined))
      await clearFailures(tx, toPasswordKey(userId))
      tx.audit({ act: 'user.unlocked', ...byActor(actor), subject_id: userId })
    })
  },
})
