import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction.ts'
import { enterUnattended } from '../conversations/access.ts'
import { hide } from '../conversations/removal.ts'
import { countParticipants, deleteParticipant, findHeir, findPlace, updateRole } from '../conversations/store.ts'
import { revokeInvitesOf } from '../invites/revocation.ts'

/**
 * Has somebody leave a conversation for good, and tells it. The last owner is followed by who is there longest, of the
 * highest role there is; a conversation nobody is left in goes.
 */
export async function depart(ctx: Pick<Context, 'now'>, tx: Tx, conversationId: string, userId: string): Promise<void> {
  const at = await enterUnattended(ctx, tx, conversationId)
  const place = at === undefined ? undefined : await findPlace(tx, conversationId, userId)
  if (at === undefined || !place) return
  tx.recheckStreams()
  const { all, owners } = await countParticipants(tx, conversationId)
  if (all === 1) return hide(tx, conversationId, at)
  if (place.role === 'owner' && owners === 1) await passOn(tx, conversationId, userId)
  await deleteParticipant(tx, conversationId, userId)
  await revokeInvitesOf(ctx, tx, { user_id: userId, conversation_id: conversationId })
  tx.emit(conversationId, { type: 'membership.changed', user_id: userId, detail: { action: 'removed' } })
}

async function passOn(tx: Tx, conversationId: string, userId: string): Promise<void> {
  const heir = await findHeir(tx, conversationId, userId)
  await updateRole(tx, conversationId, heir, 'owner')
  const detail = { role: 'owner', action: 'role_updated' }
  tx.emit(conversationId, { type: 'membership.changed', user_id: heir, detail })
}
