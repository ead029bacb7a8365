import type { AuditActor } from '../../accounts/audit/store.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { endAnswer, INTERRUPTED } from '../answers/ending.ts'
import { listStreamedBy } from '../answers/store-streaming.ts'
import { hide } from '../conversations/removal.ts'
import { revokeInvitesOf } from '../invites/revocation.ts'
import { lockAsSystem } from '../memberships/access.ts'
import {
  countParticipants,
  deleteParticipant,
  findMembership,
  findSuccessor,
  updateRole,
} from '../memberships/store.ts'
import { findConversation, isOfSystem } from '../memberships/store-conversations.ts'
import { forgetPair } from '../memberships/store-direct.ts'
import { insertFormer } from '../memberships/store-former.ts'
import { clearFollowsLater } from '../unread/clearing.ts'

/**
 * Removes a participant, revokes the invites that the participant created, and publishes an event. The participant's
 * streams of the conversation close, and what a bot writes there is interrupted.
 *
 * @param why the actor that removes the participant, as in an audit entry, or the reason of the removal
 */
export async function endParticipation(
  ctx: Pick<Context, 'now'>,
  tx: Tx,
  participant: { conversation_id: string; user_id: string },
  { by = {}, reason }: { by?: AuditActor; reason?: 'erasure' },
): Promise<void> {
  const { conversation_id, user_id } = participant
  for (const message_id of await listStreamedBy(tx, conversation_id, user_id))
    await endAnswer(tx, { message_id, conversation_id }, INTERRUPTED)
  await deleteParticipant(tx, conversation_id, user_id)
  // An erasure removes these rows of the user itself.
  if (reason !== 'erasure') {
    await insertFormer(tx, conversation_id, user_id)
    clearFollowsLater(tx, participant)
  }
  const about = { subject_id: user_id, conversation_id, ...(reason && { detail: { reason } }) }
  const { is_direct } = (await findConversation(tx, conversation_id))!
  if (!is_direct) tx.audit({ act: 'participant.removed', ...by, ...about })
  await revokeInvitesOf(ctx, tx, { user_id, conversation_id }, by)
  tx.emit(conversation_id, { type: 'membership.changed', user_id, detail: { action: 'removed' } })
  // Notifications of the conversation are no longer shown.
  tx.publishCounts([user_id])
  tx.recheckStreams({ user_id })
}

/**
 * Removes an erased user from a conversation. If the user is the last owner, the participant with the highest role
 * becomes owner; among equals, the one who joined first. If the user is the last participant, or a last owner beside bots
 * alone, the conversation is deleted, unless a system actor has created it.
 */
export async function removeErasedUser(
  ctx: Pick<Context, 'now'>,
  tx: Tx,
  conversationId: string,
  userId: string,
): Promise<void> {
  const at = await lockAsSystem(ctx, tx, conversationId)
  const place = at === undefined ? undefined : await findMembership(tx, conversationId, userId)
  if (at === undefined || !place) return
  const { all, owners } = await countParticipants(tx, conversationId)
  const isKept = await isOfSystem(tx, conversationId)
  const isLastOwner = place.role === 'owner' && owners === 1
  const successor = isLastOwner && !isKept ? await findSuccessor(tx, conversationId, userId) : undefined
  if (!isKept && (all === 1 || (isLastOwner && successor === undefined))) {
    tx.recheckStreams({ conversation_id: conversationId })
    return hide(tx, conversationId, { at, by: {}, reason: 'erasure' })
  }
  await forgetPair(tx, conversationId)
  if (successor !== undefined) await transferOwnership(tx, conversationId, successor)
  await endParticipation(ctx, tx, { conversation_id: conversationId, user_id: userId }, { reason: 'erasure' })
}

async function transferOwnership(tx: Tx, conversationId: string, successor: string): Promise<void> {
  await updateRole(tx, conversationId, successor, 'owner')
  tx.audit({
    act: 'participant.role_changed',
    subject_id: successor,
    conversation_id: conversationId,
    detail: { role: 'owner', reason: 'erasure' },
  })
  const detail = { role: 'owner', action: 'role_updated' }
  tx.emit(conversationId, { type: 'membership.changed', user_id: successor, detail })
}
