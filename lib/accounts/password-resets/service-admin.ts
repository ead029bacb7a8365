import { toLink } from '../../config/links.ts'
import type { Context } from '../../context.ts'
import { type Actor, assertAdmin, refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { newToken } from '../../core/ids.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { byActor } from '../audit/rules.ts'
import { requireConfirmation } from '../sessions/service-confirmation.ts'
import { findUser, findUserByEmail, type UserRow } from '../users/store.ts'
import { keepReset } from './mail.ts'
import { ForgottenPassword, type ResetLink } from './schema.ts'

/**
 * Creates a token that sets a new password, for an administrator to deliver.
 *
 * @throws ChatError `forbidden`, also with an API key; `not_found` without such an account; `account_disabled`;
 *   `confirmation_required` for the actor's own account; `conflict` for a guest and a bot, which have no password, and if the
 *   account changes during the call
 */
export const issue = useCase({
  takes: ['actor'],
  input: ForgottenPassword,
  errors: ['forbidden', 'not_found', 'account_disabled', 'confirmation_required', 'conflict'],
  run: async (ctx, actor, input): Promise<ResetLink> => {
    assertAdmin(actor)
    refuseKeys(actor)
    const user = await findUserByEmail(ctx.db, input.email)
    if (!user) throw new ChatError('not_found', { message: 'No account has this e-mail.' })
    return issueTo(ctx, actor, user)
  },
})

/**
 * Creates a token that sets a new password of a user, for an administrator to deliver.
 *
 * @throws ChatError `forbidden`, also with an API key; `not_found`; `account_disabled`; `confirmation_required` for the
 *   actor's own account; `conflict` for a guest and a bot, which have no password, and if the account changes during the call
 */
export const issueFor = useCase({
  takes: ['actor', 'user_id'],
  errors: ['not_found', 'account_disabled', 'confirmation_required', 'conflict'],
  run: async (ctx, actor, userId): Promise<ResetLink> => {
    assertAdmin(actor)
    refuseKeys(actor)
    const user = await findUser(ctx.db, userId)
    if (!user) throw new ChatError('not_found')
    return issueTo(ctx, actor, user)
  },
})

const NO_PASSWORD = { reason: 'guest' as const, message: 'A guest has no password: it becomes a person by signing in.' }

async function issueTo(ctx: Context, actor: Actor, { id, email, kind, disabled_at }: UserRow): Promise<ResetLink> {
  if (kind === 'guest') throw new ChatError('conflict', NO_PASSWORD)
  if (kind === 'bot') throw new ChatError('conflict', { message: 'A bot acts by keys alone: it has no password.' })
  if (disabled_at) throw new ChatError('account_disabled')
  const token = newToken()
  const expires_at = await ctx.write(async (tx) => {
    await ctx.accounts.assertStillAdmin(tx, actor)
    // Without it, a stolen session could set the password of its user without the current one.
    if (id === actor.user_id) await requireConfirmation(ctx, tx, actor)
    tx.audit({ act: 'password.reset_requested', ...byActor(actor), subject_id: id })
    return keepReset(ctx, tx, { user_id: id, email, token })
  })
  // Its address was changed since, or it was disabled.
  if (expires_at === undefined)
    throw new ChatError('conflict', { message: 'The account was changed just now: try again.' })
  const url = toLink(ctx.config, 'reset_password', token)
  return { token, ...(url !== undefined && { url }), expires_at: toInstant(expires_at) }
}
