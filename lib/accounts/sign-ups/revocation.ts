import type { Tx } from '../../live/transaction/transaction.ts'
import { deleteMailsToUsers } from '../../mail/store.ts'
import type { AuditActor } from '../audit/store.ts'
import { deleteInvitesBy } from '../mails/store.ts'

/**
 * Revokes a user's invites of newcomers, with their mails, after the user lost the right to create them. The audit log
 * gets one entry.
 *
 * @returns the number of invites
 * @param by the actor that took the right away, as in an audit entry
 */
export async function revokeNewcomers(tx: Tx, userId: string, by: AuditActor = {}): Promise<number> {
  const revoked = await deleteInvitesBy(tx, userId)
  if (revoked.length === 0) return 0
  // The key of their mails has the invite in place of a user.
  await deleteMailsToUsers(tx, ...revoked)
  tx.audit({ act: 'newcomer.revoked', ...by, subject_id: userId, detail: { count: revoked.length } })
  return revoked.length
}
