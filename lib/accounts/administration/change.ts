import { type Actor, assertAdmin, joinRoles, mayWrite, refuseKeys, splitRoles } from '../../core/actor.ts'
import { uniqueKey } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import { isTaken } from '../../storage/errors.ts'
import type { Micros } from '../../storage/sql.ts'
import { byActor } from '../audit/rules.ts'
import type { AuditEntry } from '../audit/store.ts'
import { deleteVerifications } from '../email-addresses/store.ts'
import { notify } from '../notices/service.ts'
import { deleteResets } from '../password-resets/store.ts'
import { requireConfirmation } from '../sessions/confirmation.ts'
import { endSessions } from '../sessions/store-list.ts'
import { assertStillAdmin, isLastAdmin } from '../users/rules.ts'
import { type Account, AccountChanges } from '../users/schema.ts'
import { lockUsers, toAccount, type UserRow, updateUser } from '../users/store.ts'

/**
 * Changes an account, effective at once: a disabled user's sessions end and their streams close, new roles hold for
 * the next request, a new password ends the user's other sessions.
 *
 * @throws ChatError `forbidden`, also with an API key for anything but the name that is shown; `not_found`;
 *   `confirmation_required` for another address and for the actor's own password; `email_taken`; `conflict` where no administrator would be left
 */
export const change = useCase({
  takes: ['actor', 'user_id'],
  input: AccountChanges,
  errors: ['confirmation_required', 'not_found', 'conflict', 'email_taken'],
  run: async (ctx, actor, userId, input): Promise<{ user: Account }> => {
    assertAdmin(actor)
    const { display_name: _, ...ruling } = input
    if (Object.values(ruling).some((value) => value !== undefined)) refuseKeys(actor)
    const hasher = { user: actor.user_id || undefined, ip: actor.ip }
    const password_hash = input.password === undefined ? undefined : await ctx.passwords.hash(input.password, hasher)
    let before: UserRow | undefined
    const attempt = ctx.write(async (tx) => {
      // Without it, a session that was found would get past the current password, and confirm itself with the new one.
      const isOwnPassword = input.password !== undefined && userId === actor.user_id
      if (input.email !== undefined || isOwnPassword) await requireConfirmation(ctx, tx, actor)
      const resigns = input.disabled === true || (input.roles !== undefined && !input.roles.includes('admin'))
      const user = await takeAccount(tx, actor, userId, { resigns })
      before = user
      const changed: UserRow = {
        ...user,
        ...(input.roles && { roles: joinRoles(input.roles) }),
        ...addressAfter(user, input, ctx.now()),
        ...(input.display_name !== undefined && { display_name: input.display_name || null }),
        ...(input.disabled !== undefined && { disabled_at: input.disabled ? (user.disabled_at ?? ctx.now()) : null }),
        ...(password_hash && { password_hash }),
      }
      await updateUser(tx, changed, ctx.now())
      await endWhatMust(tx, actor, user, changed)
      if (mayInvite(user) && !mayInvite(changed)) await ctx.revokeInvites(tx, { user_id: userId }, byActor(actor))
      for (const entry of actsOf(user, changed)) tx.audit({ ...entry, ...byActor(actor), subject_id: userId })
      return { user: toAccount(changed) }
    })
    const answer = await attempt.catch((error) => {
      throw isTaken(error) ? new ChatError('email_taken', { cause: error }) : error
    })
    if (input.password !== undefined) notify(ctx, userId, 'password.changed')
    // To the former address: the new one may be another person's.
    if (before && before.email !== answer.user.email) notify(ctx, userId, 'email.changed', before)
    return answer
  },
})

/**
 * An account to be changed by an administrator, who is one still: alone with it until the transaction ends.
 *
 * @param options.resigns the account may administer no longer afterwards: then it must not be the last that does
 * @throws ChatError `not_found`; `conflict` for the last administrator; `forbidden` when the actor is no administrator any more
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
    throw new ChatError('conflict', { message: 'Somebody has to administer: this is the last administrator.' })
  }
  assertStillAdmin(rows, actor)
  return user
}

async function endWhatMust(tx: Tx, actor: Actor, before: UserRow, after: UserRow): Promise<void> {
  // A link that was mailed to the old address opens nothing any more.
  if (uniqueKey(before.email) !== uniqueKey(after.email)) {
    await deleteResets(tx, after.id)
    await deleteVerifications(tx, after.id)
  }
  const isNewPassword = before.password_hash !== after.password_hash
  if (after.disabled_at === null && !isNewPassword) return
  await deleteResets(tx, after.id)
  await endSessions(tx, { user_id: after.id, except: after.disabled_at === null ? actor.session_id : undefined })
  tx.recheckStreams()
}

/** The address of an account after a change, and when it was proven: another address has yet to be. */
function addressAfter(user: UserRow, { email, email_verified }: AccountChanges, now: Micros) {
  const isOther = email !== undefined && uniqueKey(email) !== uniqueKey(user.email)
  const verified = email_verified ?? (!isOther && user.email_verified_at !== null)
  const since = isOther ? now : (user.email_verified_at ?? now)
  return { ...(email !== undefined && { email: email.trim() }), email_verified_at: verified ? since : null }
}

/** Whether an account may make invites at all. */
function mayInvite({ disabled_at, roles }: UserRow): boolean {
  return disabled_at === null && mayWrite(splitRoles(roles))
}

/** How columns are called outside. */
const NAMES = { password_hash: 'password', email_verified_at: 'email_verified' }

/** What has been done to an account, by name; a password itself is in no entry. */
function actsOf(before: UserRow, after: UserRow): AuditEntry[] {
  const names = (['email', 'email_verified_at', 'display_name', 'roles', 'password_hash'] as const).filter(
    (name) => before[name] !== after[name],
  )
  const changed = names.map((name) => NAMES[name as keyof typeof NAMES] ?? name)
  const roles = changed.includes('roles') && { roles: splitRoles(after.roles) }
  const entries: AuditEntry[] = changed.length > 0 ? [{ act: 'user.changed', detail: { changed, ...roles } }] : []
  const [was, is] = [before.disabled_at !== null, after.disabled_at !== null]
  if (was !== is) entries.push({ act: is ? 'user.disabled' : 'user.enabled' })
  return entries
}
