import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction.ts'
import { lockAsSystem } from '../conversations/access.ts'
import { hide } from '../conversations/removal.ts'
import {
  countParticipants,
  deleteParticipant,
  findMembership,
  findSuccessor,
  updateRole,
} from '../conversations/store.ts'
import { revokeInvitesOf } from '../invites/revocation.ts'

/**
 * Removes a user from a conversation for good and publishes an event. When the last owner leaves, the participant with
 * the highest role becomes owner; among equals, the one who joined first. A conversation without participants is
 * deleted.
 */
export async function leaveConversation(
  ctx: Pick<Context, 'now'>,
  tx: Tx,
  conversationId: string,
  userId: string,
): Promise<void> {
  const at = await lockAsSystem(ctx, tx, conversationId)
  const place = at === undefined ? undefined : await findMembership(tx, conversationId, userId)
  if (at === undefined || !place) return
  tx.recheckStreams()
  const { all, owners } = await countParticipants(tx, conversationId)
  if (all === 1) return hide(tx, conversationId, at)
  if (place.role === 'owner' && owners === 1) await transferOwnership(tx, conversationId, userId)
  await deleteParticipant(tx, conversationId, userId)
  await revokeInvitesOf(ctx, tx, { user_id: userId, conversation_id: conversationId })
  tx.emit(conversationId, { type: 'membership.changed', user_id: userId, detail: { action: 'removed' } })
}

async function transferOwnership(tx: Tx, conversationId: string, userId: string): Promise<void> {
  const successor = await findSuccessor(tx, conversationId, userId)
  await updateRole(tx, conversationId, successor, 'owner')
  const detail = { role: 'owner', action: 'role_updated' }
  tx.emit(conversationId, { type: 'membership.changed', user_id: successor, detail })
}
