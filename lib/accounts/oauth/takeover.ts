import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { endMeans } from '../means/ending.ts'
import type { UserRow } from '../users/store.ts'
import { markEmailVerified, removePassword } from '../users/store-changes.ts'

/**
 * Gives an account to the person who has verified its address, inside a transaction that has locked the user. The
 * registrant without a verified address loses all access: the password and every means.
 *
 * @returns the account afterwards
 */
export async function takeOver(ctx: Context, tx: Tx, user: UserRow): Promise<UserRow> {
  const now = ctx.now()
  await removePassword(tx, user.id, now)
  await endMeans(ctx, tx, { user_id: user.id }, 'takeover', { by: { actor_id: user.id } })
  await markEmailVerified(tx, user.id, now)
  tx.audit({ act: 'account.taken_over', actor_id: user.id, subject_id: user.id })
  return { ...user, password_hash: null, email_verified_at: now }
}
