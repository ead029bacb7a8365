import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import type { ParticipantRole } from './schema.ts'
import { countParticipants, findConversation, insertParticipant } from './store.ts'

/** Two people and no more talk in a conversation that is not a group. */
const PAIR = 2

/**
 * Makes a user a participant inside a transaction that has entered the conversation, and tells it. Afterwards the
 * caller introduces them.
 *
 * @returns whether the user was not there yet
 * @throws ChatError `conflict` for a third one in a conversation of two
 */
export async function join(
  tx: Tx,
  conversationId: string,
  { user, role, at }: { user: { id: string }; role: ParticipantRole; at: Micros },
): Promise<boolean> {
  if (!(await insertParticipant(tx, conversationId, { user_id: user.id, role, joined_at: at }))) return false
  const conversation = await findConversation(tx, conversationId)
  if (!conversation!.is_group && (await countParticipants(tx, conversationId)).all > PAIR) {
    throw new ChatError('conflict', { message: 'This conversation is between two people.' })
  }
  tx.emit(conversationId, { type: 'membership.changed', user_id: user.id, detail: { role, action: 'added' } })
  return true
}
