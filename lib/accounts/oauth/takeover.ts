import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction.ts'
import { deleteApiKeysOf } from '../api-keys/store.ts'
import { deleteVerifications } from '../email-addresses/store.ts'
import { deleteIdentities } from '../identities/store.ts'
import { deleteResets } from '../password-resets/store.ts'
import { forgetDevices } from '../passwords/known-devices.ts'
import { endSessions } from '../sessions/store-list.ts'
import type { UserRow } from '../users/store.ts'
import { markEmailVerified, removePassword } from '../users/store-changes.ts'

/**
 * Gives an account to the person who has verified its address, inside a transaction that has locked the user. The user
 * who registered it without verification loses all access: password, sessions, keys, identities, links and open
 * invites.
 *
 * @returns the account afterwards
 */
export async function takeOver(ctx: Context, tx: Tx, user: UserRow): Promise<UserRow> {
  const now = ctx.now()
  await removePassword(tx, user.id, now)
  await endSessions(tx, { user_id: user.id })
  await deleteApiKeysOf(tx, user.id)
  await deleteIdentities(tx, user.id)
  await deleteResets(tx, user.id)
  await deleteVerifications(tx, user.id)
  await forgetDevices(tx, user.id)
  await ctx.revokeInvites(tx, user.id, { actor_id: user.id })
  await markEmailVerified(tx, user.id, now)
  tx.audit({ act: 'account.taken_over', actor_id: user.id, subject_id: user.id })
  tx.recheckStreams({ user_id: user.id })
  return { ...user, password_hash: null, email_verified_at: now }
}
