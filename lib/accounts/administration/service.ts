import type { Context } from '../../context.ts'
import { assertRoles, hasServiceRight } from '../../core/access.ts'
import { type Actor, assertAdmin, refuseKeys, splitRoles } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import { isTaken } from '../../storage/errors.ts'
import { byActor } from '../audit/rules.ts'
import { notify } from '../mails/notices.ts'
import { endMeans } from '../means/ending.ts'
import { requireConfirmation } from '../sessions/service-confirmation.ts'
import { revokeNewcomers } from '../sign-ups/revocation.ts'
import { toAccount } from '../users/accounts.ts'
import { announceChange } from '../users/announcing.ts'
import { refuseAssistantName } from '../users/assistant-names.ts'
import { photosOf } from '../users/photos.ts'
import {
  administers,
  assertNoGuest,
  assertSparesAdministrators,
  assertStillAdmin,
  isLastAdmin,
} from '../users/rules.ts'
import { type Account, AccountChanges } from '../users/schema.ts'
import { findUser, findUserByEmail, lockUsers, type UserRow } from '../users/store.ts'
import { findOwnerId, ruleByAdministrator, setOwner } from '../users/store-bots.ts'
import { updateUser } from '../users/store-naming.ts'
import { isSystemUser } from '../users/store-system.ts'
import { type AccountPlan, isForPeople, planChange, resigns } from './rules.ts'

/**
 * Changes an account, effective at once: a disabled user's sessions end and their streams close, new roles apply from
 * the next request, a new password ends the user's other sessions.
 *
 * @throws ChatError `forbidden`, also with an API key for anything but the display name, and for a password, roles or an
 *   address of a system actor; `not_found`;
 *   `confirmation_required` for another address and for the actor's own password; `email_taken`, `username_taken`;
 *   `conflict` for the last administrator, for a sign-in of a guest or a bot, and for an owner of what is no bot
 */
export const change = useCase({
  takes: ['actor', 'user_id'],
  input: AccountChanges,
  errors: ['confirmation_required', 'not_found', 'conflict', 'email_taken', 'username_taken'],
  run: async (ctx, actor, userId, input): Promise<{ user: Account }> => {
    assertAdmin(actor)
    const { display_name: _, ...ruling } = input
    if (Object.values(ruling).some((value) => value !== undefined)) refuseKeys(actor)
    assertRoles(ctx.access.service, 'roles', input.roles ?? [])
    const hasher = { user: actor.user_id || undefined, ip: actor.ip }
    const password_hash =
      input.password === undefined ? undefined : await ctx.accounts.passwords.hash(input.password, hasher)
    const changing = ctx.write(async (tx) => {
      if (input.owner_id !== undefined) await lockUsers(tx, [userId, actor.user_id, input.owner_id], { admins: false })
      // Without it, a stolen session could bypass the current password, and confirm itself with the new one.
      const isOwnPassword = input.password !== undefined && userId === actor.user_id
      if (input.email !== undefined || isOwnPassword) await requireConfirmation(ctx, tx, actor)
      const user = await takeAccount(tx, actor, userId, { resigns: resigns(input) })
      if (isForPeople(input) && (await isSystemUser(tx, userId))) throw new ChatError('forbidden', NO_PERSON)
      assertNoGuest(user.kind, input.roles ?? [])
      if (isForPeople(input) && user.kind === 'guest') throw new ChatError('conflict', NO_SIGN_IN)
      if (isForPeople(input) && user.kind === 'bot') throw new ChatError('conflict', KEYS_ALONE)
      if (input.owner_id !== undefined) await giveAway(ctx, tx, actor, { bot: user, owner_id: input.owner_id })
      if (input.disabled !== undefined) await ruleByAdministrator(tx, userId)
      const plan = planChange(user, input, { password_hash, now: ctx.now() })
      const { after, acts } = plan
      refuseAssistantName(ctx, after.username, user.username)
      await updateUser(tx, after, ctx.now())
      announceChange(tx, user, after)
      if (input.password !== undefined) await notify(ctx, tx, userId, 'password_changed')
      // To the former address: the new one may be another person's.
      if (user.email !== after.email) await notify(ctx, tx, userId, 'email_changed', { former: user })
      await endWhatMust(ctx, tx, actor, { ...plan, before: user })
      if (!hasServiceRight(ctx.access, splitRoles(after.roles), 'invite'))
        await ctx.accounts.revokeInvites(tx, userId, byActor(actor))
      else if (!administers(after)) await revokeNewcomers(tx, userId, byActor(actor))
      for (const entry of acts) tx.audit({ ...entry, ...byActor(actor), subject_id: userId })
      return { user: await toAccount(tx, after, photosOf(ctx.config)) }
    })
    return changing.catch(async (error) => {
      if (!isTaken(error)) throw error
      const holder = input.email === undefined ? undefined : await findUserByEmail(ctx.db, input.email)
      throw new ChatError(holder && holder.id !== userId ? 'email_taken' : 'username_taken', { cause: error })
    })
  },
})

/**
 * Locks an account for a change by an administrator, whose rights are checked again in the transaction.
 *
 * @param options.resigns the account loses the right to administer: then it must not be the last one
 * @throws ChatError `not_found`; `conflict` for the last administrator; `forbidden` when the actor has lost the role
 */
export async function takeAccount(
  tx: Queries,
  actor: Actor,
  userId: string,
  { resigns }: { resigns: boolean },
): Promise<UserRow> {
  const rows = await lockUsers(tx, [userId, actor.user_id], { admins: resigns })
  const user = rows.find((row) => row.id === userId)
  if (!user) throw new ChatError('not_found')
  if (resigns && isLastAdmin(rows, userId)) {
    throw new ChatError('conflict', { message: 'The service needs an administrator: this is the last one.' })
  }
  assertStillAdmin(rows, actor)
  assertSparesAdministrators(user, actor)
  return user
}

const NO_SIGN_IN = {
  reason: 'guest' as const,
  message: 'A guest has no sign-in, no other roles and no address: it becomes a person by signing in.',
}

/**
 * Gives a bot to another user.
 *
 * @throws ChatError `conflict` for a user who is no bot, and for a new owner who is no person with an active account
 */
async function giveAway(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  { bot, owner_id }: { bot: UserRow; owner_id: string },
): Promise<void> {
  const before = await findOwnerId(tx, bot.id)
  if (before === undefined) throw new ChatError('conflict', { message: 'Only a bot has an owner.' })
  const owner = await findUser(tx, owner_id)
  if (owner?.kind !== 'person' || owner.disabled_at !== null || (await isSystemUser(tx, owner_id)))
    throw new ChatError('conflict', { message: 'The owner of a bot is a person with an active account.' })
  if (owner_id === before) return
  await setOwner(tx, bot.id, owner_id, ctx.now())
  const detail = { changed: ['owner_id'], user_id: owner_id }
  tx.audit({ act: 'user.changed', ...byActor(actor), subject_id: bot.id, detail })
  // Its keys may have been refused until now.
  tx.recheckStreams({ user_id: bot.id })
}

const KEYS_ALONE = { message: 'A bot has no sign-in, no other roles and no address.' }

const NO_PERSON = { message: 'This user is a part of the host: it has no sign-in, no other roles and no address.' }

/** Ends the means of access that a new password, a new address or disabling ends; the actor's own session stays. */
async function endWhatMust(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  { before, after, isMoved }: AccountPlan & { before: UserRow },
): Promise<void> {
  const user = { user_id: after.id }
  if (after.disabled_at !== null) await endMeans(ctx, tx, user, 'disabled', { by: byActor(actor) })
  if (!isMoved && before.password_hash === after.password_hash) return
  const keep = isMoved ? [] : (['verification_links'] as const)
  await endMeans(ctx, tx, user, 'administration', { session: actor.session_id, keep, by: byActor(actor) })
}
