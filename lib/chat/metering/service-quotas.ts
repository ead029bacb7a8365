import { byActor } from '../../accounts/audit/rules.ts'
import { findUser, lockUsers } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import { type Actor, assertAdmin, splitRoles } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { arePriced } from './models.ts'
import { limitsOfRoles } from './rules-quotas.ts'
import { type UserQuota, UserQuotaInput, type UserQuotaState } from './schema.ts'
import { deleteQuota, findQuota, upsertQuota } from './store-quotas.ts'

/**
 * Sets how much of the assistant a user may use, instead of what the user's roles may.
 *
 * @throws ChatError `forbidden`; `not_found`; `validation_failed` for a limit of costs without a price of each model
 */
export const setQuota = useCase({
  takes: ['actor', 'user_id'],
  input: UserQuotaInput,
  errors: ['not_found'],
  run: async (ctx, actor, userId, quota): Promise<UserQuota> => {
    assertAdmin(actor)
    assertPriced(ctx, quota)
    await ctx.write(async (tx) => {
      await lockUser(ctx, tx, actor, userId)
      await upsertQuota(tx, userId, quota)
      tx.audit({ act: 'user.quota_set', ...byActor(actor), subject_id: userId, detail: detailOf(quota) })
    })
    return quota
  },
})

/**
 * Lets a user use as much of the assistant as the user's roles may. Repeatable.
 *
 * @throws ChatError `forbidden`; `not_found`
 */
export const clearQuota = useCase({
  takes: ['actor', 'user_id'],
  errors: ['not_found'],
  run: async (ctx, actor, userId): Promise<void> => {
    assertAdmin(actor)
    await ctx.write(async (tx) => {
      await lockUser(ctx, tx, actor, userId)
      if (await deleteQuota(tx, userId)) tx.audit({ act: 'user.quota_cleared', ...byActor(actor), subject_id: userId })
    })
  },
})

/**
 * The quota of a user, and what the user's roles may use without one.
 *
 * @throws ChatError `forbidden`; `not_found`
 */
export const getQuota = useCase({
  takes: ['actor', 'user_id'],
  errors: ['not_found'],
  run: async (ctx, actor, userId): Promise<UserQuotaState> => {
    assertAdmin(actor)
    const user = await findUser(ctx.db, userId)
    if (!user) throw new ChatError('not_found')
    const quota = await findQuota(ctx.db, userId)
    return { ...(quota && { quota }), roles: limitsOfRoles(ctx.config.usage.quotas, splitRoles(user.roles)) }
  },
})

async function lockUser(ctx: Context, tx: Tx, actor: Actor, userId: string): Promise<void> {
  await ctx.accounts.assertStillAdmin(tx, actor)
  if ((await lockUsers(tx, [userId], { admins: false })).length === 0) throw new ChatError('not_found')
}

function assertPriced(ctx: Context, quota: UserQuota): void {
  if (arePriced(ctx)) return
  const errors = (['day', 'month'] as const)
    .filter((period) => quota[period]?.cost_micros !== undefined)
    .map((period) => ({ path: `${period}.cost_micros`, message: 'needs a price of the model' }))
  if (errors.length > 0) throw new ChatError('validation_failed', { errors })
}

/** The limits by their names: `day_tokens`. */
function detailOf(quota: UserQuota): Record<string, number> {
  const limits = Object.entries(quota).flatMap(([period, each]) =>
    Object.entries(each).map(([unit, limit]) => [`${period}_${unit}`, limit] as const),
  )
  return Object.fromEntries(limits)
}
