import type { AuditActor } from '../../accounts/audit/store.ts'
import { findUser } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import { isAtMostMember } from '../../core/access.ts'
import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { ParticipantRole } from '../conversations/schema.ts'
import { OF_TWO, PAIR } from './rules.ts'
import { insertParticipant } from './store.ts'
import { findConversation } from './store-conversations.ts'

/**
 * Makes a user a participant and publishes an event, in a transaction that has locked the conversation. After the
 * commit the caller calls `ctx.streams.presence.introduce`. For a role that is given, it first calls {@link assertHoldable}.
 *
 * @param change.by the actor that adds the participant
 * @returns false if the user was a participant already
 * @throws ChatError `conflict` for a third participant of a conversation that is not a group, and in a frozen one
 */
export async function join(
  tx: Tx,
  conversationId: string,
  { user, role, at, by }: { user: { id: string }; role: ParticipantRole; at: Micros; by: AuditActor },
): Promise<boolean> {
  if (!(await insertParticipant(tx, conversationId, { user_id: user.id, role, joined_at: at }))) return false
  const { is_group, participant_count, frozen_at } = (await findConversation(tx, conversationId))!
  if (frozen_at !== null) throw new ChatError('conflict', { reason: 'frozen' })
  if (!is_group && participant_count > PAIR) throw new ChatError('conflict', OF_TWO)
  tx.audit({ act: 'participant.added', ...by, subject_id: user.id, conversation_id: conversationId, detail: { role } })
  tx.emit(conversationId, { type: 'membership.changed', user_id: user.id, detail: { role, action: 'added' } })
  // The notifications of a user who was a participant before are shown again.
  tx.publishCounts([user.id])
  return true
}

/** @throws ChatError `conflict` for a guest in a role with a right that a member does not have, and for a bot as an owner */
export async function assertHoldable(
  { access }: Pick<Context, 'access'>,
  tx: Queries,
  userId: string,
  role: ParticipantRole,
): Promise<void> {
  if (isAtMostMember(access, role)) return
  const kind = (await findUser(tx, userId))?.kind
  if (kind === 'guest')
    throw new ChatError('conflict', { reason: 'guest', message: 'A guest is at most a member of a conversation.' })
  if (kind === 'bot' && role === 'owner')
    throw new ChatError('conflict', { message: 'A bot owns no conversation: its owner does.' })
}
