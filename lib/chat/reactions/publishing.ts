import type { Tx } from '../../live/transaction/transaction.ts'
import type { Reaction } from '../messages/schema.ts'
import type { ReactionState } from '../messages/store-reactions.ts'

/** Publishes the event of a change of reactions. */
export function publishChange(
  tx: Tx,
  { id: message_id, root_id, conversation_id }: ReactionState,
  change: { action: 'added' | 'removed' | 'cleared'; emoji: string; user_id: string; reactions: Reaction[] },
): void {
  const { action, emoji, user_id } = change
  const payload = { message_id, root_id, conversation_id, ...change }
  tx.emit(conversation_id, { type: 'reactions.changed', message_id, user_id, detail: { action, emoji }, payload })
}
