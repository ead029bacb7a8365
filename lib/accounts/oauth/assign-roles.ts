import type { Context } from '../../context.ts'
import { hasServiceRight } from '../../core/access.ts'
import { joinRoles, type Role, splitRoles } from '../../core/actor.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { revokeNewcomers } from '../sign-ups/revocation.ts'
import { announceChange } from '../users/announcing.ts'
import { administers, isLastAdmin } from '../users/rules.ts'
import { lockUsers, type UserRow } from '../users/store.ts'
import { updateUser } from '../users/store-naming.ts'

/**
 * Stores the roles that the claims of a provider give, as of this sign-in. The last active administrator stays one: a
 * mistake in the groups of a provider locks no service.
 *
 * @returns the account as it is now
 */
export async function assignRoles(
  ctx: Context,
  tx: Tx,
  user: UserRow,
  { provider, roles }: { provider: string; roles: Role[] },
): Promise<UserRow> {
  const value = joinRoles(roles)
  if (value === user.roles) return user
  const resigns = splitRoles(user.roles).includes('admin') && !roles.includes('admin')
  const rows = await lockUsers(tx, [user.id], { admins: resigns })
  if (resigns && isLastAdmin(rows, user.id)) {
    ctx.log.warn('The last administrator stays one, although the claims of the provider give another role', {
      provider,
    })
    return user
  }
  const changed = { ...rows.find(({ id }) => id === user.id)!, roles: value }
  await updateUser(tx, changed, ctx.now())
  announceChange(tx, user, changed)
  if (!hasServiceRight(ctx.access, roles, 'invite')) await ctx.accounts.revokeInvites(tx, user.id)
  else if (!administers(changed)) await revokeNewcomers(tx, user.id)
  tx.audit({ act: 'user.changed', subject_id: user.id, detail: { by: provider, changed: ['roles'], roles } })
  return changed
}
