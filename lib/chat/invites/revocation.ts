import type { AuditActor } from '../../accounts/audit/store.ts'
import { forgetJoins } from '../../accounts/mails/store.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { type MadeBy, revokeOpenInvites } from './store.ts'

/**
 * Revokes the open invites of a user who has lost the right to create them. The audit log gets one entry for each
 * conversation and role.
 *
 * @returns the number of invites
 * @param by the actor that took the right away, as in an audit entry
 */
export async function revokeInvitesOf(
  ctx: Pick<Context, 'now'>,
  tx: Tx,
  issuer: MadeBy,
  by: AuditActor = {},
): Promise<number> {
  const counts = new Map<string, { conversation_id: string; role: string; count: number }>()
  const revoked = await revokeOpenInvites(tx, issuer, ctx.now())
  await forgetJoins(
    tx,
    revoked.map(({ id }) => id),
  )
  for (const { conversation_id, role } of revoked) {
    const detail = counts.get(`${conversation_id} ${role}`) ?? { conversation_id, role, count: 0 }
    counts.set(`${conversation_id} ${role}`, { ...detail, count: detail.count + 1 })
  }
  for (const detail of counts.values()) {
    const { conversation_id } = detail
    tx.audit({ act: 'invite.revoked', ...by, subject_id: issuer.user_id, conversation_id, detail })
  }
  return revoked.length
}
